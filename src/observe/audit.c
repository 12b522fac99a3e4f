#include "observe/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/store.h"
#include "observe/audit-internal.h"

#define PATH_TEXT_MAX 1024
#define TEXT_MAX      512
#define FAILED        "audit-failed"

/* Reports the first failure, and no more until a record can be written again. */
static void observe_audit_on_failure(Audit *a, int r, bool first, unsigned n) {
        a->lost += n;
        a->n_lost += n;
        if (!first)
                return;
        log_error("audit: a record cannot be written: %s; lost ones are counted%s", strerror(-r),
                        a->manager->settings->audit.required ? ", and requests that change something are refused until then" : "");
        observe_security(a->manager, FAILED, /* sb= */ NULL, "the audit log cannot be written: %s", strerror(-r));
}

/* Writes what the log has to say about itself, before any other record. False: nothing is written. */
static bool ready(Audit *a) {
        bool on = a->manager->settings->audit.enabled;
        uint64_t lost = a->lost;

        if (on != a->was_on) {
                a->was_on = on;
                (void) audit_note(a, on ? AUDIT_ON : AUDIT_OFF, NULL, 0, on ? NULL : "audit.enabled is false from here on");
        }
        if (on && lost > 0 && audit_note(a, AUDIT_LOST, "lost", lost, "records before this one could not be written") >= 0) {
                a->lost = 0;
                log_warning("audit: works again; %" PRIu64 " records were lost", lost);
        }
        return on;
}

static void observe_audit_finish(Audit *a, bool failing) {
        int r = audit_end(a);

        if (r < 0)
                observe_audit_on_failure(a, r, !failing, 1);
}

/* The records of a turn, before anything of it leaves. */
static void observe_audit_write(void *userdata) {
        Audit *a = userdata;
        unsigned n = a->n_pending;
        bool failing = a->error < 0;
        int r = audit_flush(a);

        if (r < 0)
                observe_audit_on_failure(a, r, !failing, n);
}

static const char *outcome_of(unsigned status) {
        if (status == 0)
                return "aborted";
        if (status == 401 || status == 403)
                return "denied";
        return status < 400 ? "ok" : status < 500 ? "refused" : "failed";
}

void audit_call(Audit *a, const AuditCall *c) {
        const char *outcome = outcome_of(c->status);
        bool failing = a->error < 0;

        if (c->reads && !a->manager->settings->audit.reads && strcmp(outcome, "denied") != 0)
                return;
        if (!ready(a))
                return;
        audit_begin(a);
        audit_put_text(a, "kind", "call", AUDIT_WORD_MAX);
        audit_put_text(a, "actor", c->actor, AUDIT_WORD_MAX);
        audit_put_text(a, "tenant", c->tenant, AUDIT_WORD_MAX);
        audit_put_text(a, "remote", c->remote, AUDIT_WORD_MAX);
        audit_put_text(a, "method", c->method, AUDIT_WORD_MAX);
        audit_put_text(a, "route", c->route, AUDIT_WORD_MAX);
        audit_put_text(a, "path", c->path, c->path_max ? c->path_max : PATH_TEXT_MAX);
        audit_put_text(a, "file", c->file, PATH_TEXT_MAX);
        audit_put_text(a, "sandbox", c->sandbox, AUDIT_WORD_MAX);
        audit_put_text(a, "execution", c->execution, AUDIT_WORD_MAX);
        audit_put_number(a, "status", c->status);
        audit_put_text(a, "outcome", outcome, AUDIT_WORD_MAX);
        text_format(&a->text, ",\"durationMs\":%.3f", (double) c->duration_usec / 1000);
        observe_audit_finish(a, failing);
}

void audit_strangers(Audit *a, uint64_t count, uint64_t peers, const char *text) {
        bool failing = a->error < 0;

        if (!ready(a))
                return;
        audit_begin(a);
        audit_put_text(a, "kind", "call", AUDIT_WORD_MAX);
        audit_put_text(a, "event", "strangers", AUDIT_WORD_MAX);
        audit_put_text(a, "actor", "unknown", AUDIT_WORD_MAX);
        audit_put_number(a, "count", count);
        audit_put_number(a, "peers", peers);
        audit_put_text(a, "text", text, TEXT_MAX);
        observe_audit_finish(a, failing);
}

static void put_execution(Audit *a, const Execution *x) {
        audit_put_text(a, "execution", x->id, AUDIT_WORD_MAX);
        if (!execution_ended(x))
                return;
        text_format(&a->text, ",\"exitCode\":%d", x->exit_code);
        audit_put_text(a, "outcome", execution_reason_name(x->reason), AUDIT_WORD_MAX);
}

static void event(Audit *a, const char *kind, const char *name, const Sandbox *sb, const Execution *x, const char *text) {
        bool failing = a->error < 0;

        if (!ready(a))
                return;
        audit_begin(a);
        audit_put_text(a, "kind", kind, AUDIT_WORD_MAX);
        audit_put_text(a, "event", name, AUDIT_WORD_MAX);
        if (sb) {
                audit_put_text(a, "tenant", sb->spec.tenant, AUDIT_WORD_MAX);
                audit_put_text(a, "sandbox", sb->id, AUDIT_WORD_MAX);
        }
        if (x)
                put_execution(a, x);
        audit_put_text(a, "text", text, TEXT_MAX);
        observe_audit_finish(a, failing);
}

/* Callbacks of the core. */

static void observe_audit_on_security(const char *kind, Sandbox *sb, const char *text, void *userdata) {
        if (text && strcmp(kind, FAILED) != 0)
                event(userdata, "security", kind, sb, NULL, text);
}

/* Denials are security events. Questions to operators and their answers are not, and are recorded too. */
static void observe_audit_on_network(Sandbox *sb, const NetworkNews *news, void *userdata) {
        if (strcmp(news->kind, "asked") == 0)
                event(userdata, "event", "approval-asked", sb, NULL, news->text);
        else if (strcmp(news->kind, "answered") == 0)
                event(userdata, "event", "approval-answered", sb, NULL, news->text);
}

static void observe_audit_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        if (sb->pooled)
                return;
        if (from == to)
                event(userdata, "life", to == SANDBOX_INITIALIZING ? "sandbox-created" : "sandbox-claimed", sb, NULL, NULL);
        else if (sandbox_status_is_ended(to) || to == SANDBOX_TERMINATING)
                event(userdata, "life", to == SANDBOX_TERMINATING ? "sandbox-ending" : "sandbox-ended", sb, NULL, sb->reason);
}

static void observe_audit_on_execution_started(Execution *x, void *userdata) {
        if (!x->sandbox->pooled)
                event(userdata, "life", "execution-started", x->sandbox, x, NULL);
}

static void observe_audit_on_execution_ended(Execution *x, void *userdata) {
        if (!x->sandbox->pooled)
                event(userdata, "life", "execution-ended", x->sandbox, x, x->message);
}

/* Starts the write-back of written records without waiting for it: a crash of the machine loses seconds, and no
 * caller waits for a disk. */
static int observe_audit_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Audit *a = userdata;

        observe_audit_write(a);
        a->dirty = false;
        (void) sync_file_range(a->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        (void) sync_file_range(a->head_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        store_may_lose(store_counter_set(a->manager->store, "audit_seq", a->head.seq), "how far the audit log is");
        audit_reserve(a);
        audit_expire(a);
        return 0;
}

static int observe_audit_open_directory(Audit *a, Error *reterr) {
        char path[4096];
        const char *dir = a->manager->config.state_dir;

        if ((size_t) snprintf(path, sizeof(path), "%s/audit", dir) >= sizeof(path))
                return error_set(reterr, -ENAMETOOLONG, "'%s/audit': the path is too long", dir);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make '%s': %m", path);
        a->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return a->dirfd < 0 ? error_set(reterr, -errno, "cannot open '%s': %m", path) : 0;
}

static int observe_audit_attach(Audit *a, Error *reterr) {
        int r = sd_event_add_time(a->manager->event, &a->timer, CLOCK_MONOTONIC, 0, 0, observe_audit_on_timer, a);

        if (r >= 0)
                r = sd_event_source_set_enabled(a->timer, SD_EVENT_OFF);
        if (r < 0)
                return error_set(reterr, r, "cannot add the audit log to the loop: %m");
        a->observer = (CoreObserver) {
                .status = observe_audit_on_status,
                .execution_started = observe_audit_on_execution_started,
                .execution_ended = observe_audit_on_execution_ended,
                .security = observe_audit_on_security,
                .network = observe_audit_on_network,
                .userdata = a,
        };
        manager_observe(a->manager, &a->observer);
        if (a->manager->settle) {
                a->writer = (SettleWriter) { .write = observe_audit_write, .userdata = a };
                settle_add_writer(a->manager->settle, &a->writer);
        }
        return 0;
}

DEFINE_CLEANUP(Audit, audit_free)

int audit_new(Manager *m, Audit **ret, Error *reterr) {
        _cleanup_(audit_freep) Audit *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return error_set(reterr, -ENOMEM, "out of memory");
        *a = (Audit) {
                .manager = m,
                .dirfd = -EBADF,
                .fd = -EBADF,
                .head_fd = -EBADF,
                .text = TEXT_INIT(AUDIT_RECORD_MAX),
                .pending = TEXT_INIT(AUDIT_PENDING_MAX),
                .was_on = m->settings->audit.enabled,
        };
        r = observe_audit_open_directory(a, reterr);
        if (r >= 0)
                r = audit_recover(a, reterr);
        if (r >= 0)
                r = observe_audit_attach(a, reterr);
        if (r < 0)
                return r;
        event(a, "life", "daemon-started", NULL, NULL, NULL);
        *ret = TAKE_PTR(a);
        return 0;
}

Audit *audit_free(Audit *a) {
        if (!a)
                return NULL;
        manager_unobserve(a->manager, &a->observer);
        if (a->timer) {
                event(a, "life", "daemon-stopped", NULL, NULL, NULL);
                observe_audit_write(a);
                store_may_lose(store_counter_set(a->manager->store, "audit_seq", a->head.seq), "how far the audit log is");
                (void) fdatasync(a->fd);
        }
        if (a->writer.write)
                settle_remove_writer(a->manager->settle, &a->writer);
        sd_event_source_disable_unref(a->timer);
        text_done(&a->text);
        text_done(&a->pending);
        (void) fd_close(a->fd);
        (void) fd_close(a->head_fd);
        (void) fd_close(a->dirfd);
        free(a);
        return NULL;
}

bool audit_accepts(Audit *a) {
        if (a->error >= 0 || !a->manager->settings->audit.required || !a->manager->settings->audit.enabled)
                return true;
        observe_audit_write(a);
        (void) ready(a); /* a single failure may be over: the record about lost ones shows whether writing works again */
        return a->error >= 0;
}

void audit_stats(const Audit *a, AuditStats *ret) {
        *ret = (AuditStats) { .records = a->head.seq, .written = a->n_written, .lost = a->n_lost, .error = a->error };
        memcpy(ret->hash, a->head.hash, sizeof(ret->hash));
}

void audit_head(Audit *a, AuditHead *ret) {
        observe_audit_write(a);
        *ret = a->head;
}

int audit_directory(Audit *a) {
        observe_audit_write(a);
        return a->dirfd;
}

void audit_follow(Audit *a, AuditFollower *f) {
        f->audit = a;
        DL_APPEND(a->followers, f);
}

void audit_unfollow(AuditFollower *f) {
        if (!f->audit)
                return;
        DL_DELETE(f->audit->followers, f);
        f->audit = NULL;
}
