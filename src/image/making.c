/* making.c: makings, which are long jobs: their rows, logs, watchers and ends. */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/secret.h"
#include "image/internal.h"

#define LOG_BYTES_MAX  ((uint64_t) 16 << 20)
#define HELD_MAX       4096
#define KEPT_MAX       500 /* ended makings kept per tenant */
#define INTERRUPTED    "interrupted by a restart of the daemon; run it again: finished layers are kept"

static void log_name(const Making *k, char ret[static MAKING_ID_LENGTH + 5]) {
        (void) snprintf(ret, MAKING_ID_LENGTH + 5, "%s.log", k->row.id);
}

const char *making_id(const Making *k) {
        return k->row.id;
}

const char *making_tenant(const Making *k) {
        return k->row.tenant;
}

bool making_is_cancelled(const Making *k) {
        return k->cancelled;
}

int making_open_log(const Making *k) {
        char name[MAKING_ID_LENGTH + 5];
        int fd;

        log_name(k, name);
        fd = openat(k->images->makings_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

void making_info(const Making *k, MakingInfo *ret) {
        *ret = (MakingInfo) {
                .id = k->row.id,
                .tenant = k->row.tenant,
                .name = k->row.name,
                .error = k->row.error,
                .error_code = k->row.error_code,
                .stage = k->row.stage,
                .digest = *k->row.digest ? k->row.digest : NULL,
                .kind = k->row.kind,
                .status = k->row.status,
                .done = k->row.progress_done,
                .total = k->row.progress_total,
                .log_bytes = k->log_bytes,
                .created_at = k->row.created_at,
                .ended_at = k->row.ended_at,
        };
}

/* Watchers. */

void making_watch(Making *k, MakingWatch *watch) {
        watch->making = k;
        DL_APPEND(k->watches, watch);
}

void making_unwatch(MakingWatch *watch) {
        if (!watch->making)
                return;
        DL_DELETE(watch->making->watches, watch);
        watch->making = NULL;
}

static void making_tell(Making *k) {
        MakingWatch *w, *next;

        DL_FOREACH_SAFE(k->watches, w, next)
                w->changed(k, w->userdata);
}

/* Logs. */

void making_log_bytes(Making *k, const void *data, size_t size) {
        static const char full[] = "\n[the log is full: what follows is not kept]\n";

        if (k->log_fd < 0 || k->log_full || size == 0)
                return;
        if (k->log_bytes + size > LOG_BYTES_MAX) {
                k->log_full = true;
                data = full;
                size = sizeof(full) - 1;
        }
        if (fd_write_all(k->log_fd, data, size) < 0)
                k->log_full = true; /* disk full: the work continues without a log */
        else
                k->log_bytes += size;
        making_tell(k);
}

void making_log(Making *k, const char *format, ...) {
        _cleanup_free_ char *line = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&line, format, ap);
        va_end(ap);
        if (n < 0) {
                line = NULL;
                return;
        }
        line[n] = '\n'; /* replaces the NUL */
        making_log_bytes(k, line, (size_t) n + 1);
}

void making_progress(Making *k, const char *stage, uint64_t done, uint64_t total) {
        if (stage && (!k->row.stage || strcmp(k->row.stage, stage) != 0)) {
                char *copy = strdup(stage);

                if (copy) {
                        free(k->row.stage);
                        k->row.stage = copy;
                }
        }
        k->row.progress_done = done;
        k->row.progress_total = total;
        making_tell(k);
}

int making_hold(Making *k, const char *chain) {
        for (size_t i = 0; i < k->held.n; i++)
                if (strcmp(k->held.items[i], chain) == 0)
                        return 0;
        return strv_push(&k->held, chain);
}

/* Lives. */

static void making_free(Making *k) {
        Images *i = k->images;
        MakingWatch *w, *next;

        DL_FOREACH_SAFE(k->watches, w, next)
                making_unwatch(w);
        DL_DELETE(i->makings, k);
        HASH_DEL(i->makings_by_id, k);
        (void) fd_close(k->log_fd);
        ledger_release(&k->charge);
        ledger_release(&k->fetched);
        strv_done(&k->held);
        store_making_done(&k->row);
        free(k);
}

static Making *making_add(Images *i, StoreMaking *row) {
        Making *k = calloc(1, sizeof(*k));

        if (!k)
                return NULL;
        k->images = i;
        k->log_fd = -EBADF;
        k->held = (Strv) STRV_INIT(HELD_MAX);
        k->row = *row;
        row->tenant = row->name = row->error = row->stage = NULL;
        DL_APPEND(i->makings, k);
        HASH_ADD_STR(i->makings_by_id, row.id, k);
        return k;
}

static int open_log(Making *k) {
        char name[MAKING_ID_LENGTH + 5];

        log_name(k, name);
        k->log_fd = openat(k->images->makings_fd, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        return k->log_fd < 0 ? -errno : 0;
}

/* The first making of a tenant may always begin, so that tenants with many makings cannot keep others
 * waiting. */
static int making_refuse(Images *i, const char *tenant, MakingKind kind, Error *reterr) {
        unsigned max = images_config(i)->makings_max;
        LedgerEntry nothing = { 0 };
        int r = 0;

        if (kind != MAKING_GC && kind != MAKING_PUSH) /* these make no template */
                r = ledger_reserve(i->manager, &nothing, tenant, LEDGER_TEMPLATE, 0, reterr);
        ledger_release(&nothing);
        if (r < 0)
                return r;
        if (i->n_running < max || ledger_of_tenant(i->manager, tenant).counts[LEDGER_BUILDS] == 0)
                return 0;
        return error_set(reterr, -EDQUOT, "%u jobs on templates are in progress, which is the maximum (images.maxMakings): wait for one, or cancel it",
                        i->n_running);
}

static void makings_trim_of(Images *i, const char *tenant);

int making_new(Images *i, const Principal *who, MakingKind kind, const char *template_name, Making **ret, Error *reterr) {
        StoreMaking row = { .kind = kind, .status = MAKING_RUNNING, .created_at = clock_wall_usec() };
        Making *k = NULL;
        int r = making_refuse(i, who ? who->tenant : NULL, kind, reterr);

        if (r < 0)
                return r;
        row.id[0] = 'm';
        secret_random_hex(row.id + 1, MAKING_ID_LENGTH - 1);
        row.tenant = strdup(who && who->tenant ? who->tenant : "");
        row.name = template_name ? strdup(template_name) : NULL;
        r = !row.tenant || (template_name && !row.name) ? -ENOMEM : store_making_put(i->manager->store, &row);
        if (r >= 0) {
                k = making_add(i, &row);
                r = k ? open_log(k) : -ENOMEM;
        }
        store_making_done(&row);
        if (r < 0) {
                if (k) {
                        store_may_lose(store_making_delete(i->manager->store, k->row.id), "that a making is forgotten");
                        making_free(k);
                }
                return error_set(reterr, r, "cannot begin: %s", strerror(-r));
        }
        i->n_running++;
        (void) ledger_charge(i->manager, &k->charge, k->row.tenant, LEDGER_BUILDS, 1);
        makings_trim_of(i, k->row.tenant);
        *ret = k;
        return 0;
}

/* Cancels the outer sequences first. They wait for the inner one, and only the inner one can end within the
 * call. */
void making_cancel(Making *k) {
        Error error = { 0 };
        MakingWork *w, *next;

        if (k->ended || k->cancelled)
                return;
        k->cancelled = true;
        DL_FOREACH_SAFE(k->works, w, next) {
                (void) error_set(&error, -ECANCELED, "%s", w->cancelled ? w->cancelled : "it was cancelled");
                sequence_cancel(&w->run, &error);
        }
}

static void log_end(Making *k, const Error *error) {
        char took[32];
        usec_t usec = k->row.ended_at > k->row.created_at ? k->row.ended_at - k->row.created_at : 0;

        if (usec < USEC_PER_SEC)
                (void) snprintf(took, sizeof(took), "%llu ms", (unsigned long long) (usec / USEC_PER_MSEC));
        else
                (void) snprintf(took, sizeof(took), "%llu.%llu s", (unsigned long long) (usec / USEC_PER_SEC),
                                (unsigned long long) (usec % USEC_PER_SEC / (100 * USEC_PER_MSEC)));
        if (error)
                making_log(k, "%s after %s: %s", k->row.status == MAKING_CANCELLED ? "cancelled" : "failed", took, error->text);
        else
                making_log(k, "done in %s%s%s", took, *k->row.digest ? ": " : "", k->row.digest);
}

void making_end(Making *k, const Image *image, const Error *error) {
        if (k->ended)
                return;
        k->ended = true;
        k->row.ended_at = clock_wall_usec();
        k->row.status = !error ? MAKING_DONE : k->cancelled ? MAKING_CANCELLED : MAKING_FAILED;
        if (image)
                memcpy(k->row.digest, image->digest, sizeof(k->row.digest));
        if (error) {
                k->row.error_code = error->code;
                free(k->row.error);
                k->row.error = strdup(error->text);
        }
        log_end(k, error);
        if (store_making_put(k->images->manager->store, &k->row) < 0)
                log_warning("the end of job %s cannot be saved", k->row.id);
        k->log_fd = fd_close(k->log_fd);
        strv_done(&k->held);
        k->images->n_running--;
        ledger_release(&k->charge);
        ledger_release(&k->fetched);
        blobs_charge(k->images, k->row.tenant);
        if (k->images->observer)
                k->images->observer(k->images, k, k->images->observer_data);
        making_tell(k);
}

/* Finding. */

static bool is_seen(const Making *k, const char *tenant) {
        return !tenant || strcmp(k->row.tenant, tenant) == 0;
}

Making *making_find(Images *i, const Principal *who, const char *id) {
        Making *k;

        HASH_FIND(hh, i->makings_by_id, id, strlen(id), k);
        return k && is_seen(k, who->tenant) ? k : NULL;
}

int makings_each(Images *i, const char *tenant, int (*each)(Making *k, void *userdata), void *userdata) {
        Making *k = i->makings ? i->makings->prev : NULL; /* prev of the first is the last */
        int r = 0;

        for (; k && r >= 0; k = k == i->makings ? NULL : k->prev)
                if (is_seen(k, tenant))
                        r = each(k, userdata);
        return r;
}

/* Removes ended makings that are older than configured. For `tenant`, whose number has grown, also its
 * oldest ones beyond KEPT_MAX. */
static void makings_trim_of(Images *i, const char *tenant) {
        usec_t now = clock_wall_usec(), keep = images_config(i)->keep_makings_usec;
        unsigned n = 0;
        Making *k, *next;
        char name[MAKING_ID_LENGTH + 5];

        DL_FOREACH(i->makings, k)
                n += tenant && k->ended && strcmp(k->row.tenant, tenant) == 0;
        DL_FOREACH_SAFE(i->makings, k, next) {
                bool old = k->row.ended_at + keep < now && manager_trusts_calendar(i->manager), own = tenant && strcmp(k->row.tenant, tenant) == 0;

                if (!k->ended || k->watches || (!old && !(own && n > KEPT_MAX)))
                        continue;
                log_name(k, name);
                (void) unlinkat(i->makings_fd, name, 0);
                store_may_lose(store_making_delete(i->manager->store, k->row.id), "that a making is forgotten");
                making_free(k);
                n -= own;
        }
}

void makings_trim(Images *i) {
        makings_trim_of(i, /* tenant= */ NULL);
}

/* Opening. */

static int making_take_row(StoreMaking *row, void *userdata) {
        return making_add(userdata, row) ? 0 : -ENOMEM;
}

static void making_settle(Making *k) {
        struct stat st;
        char name[MAKING_ID_LENGTH + 5];

        log_name(k, name);
        k->ended = true;
        if (fstatat(k->images->makings_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                k->log_bytes = (uint64_t) st.st_size;
        if (k->row.status != MAKING_RUNNING)
                return;
        k->log_fd = openat(k->images->makings_fd, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
        making_log(k, INTERRUPTED);
        k->log_fd = fd_close(k->log_fd);
        k->row.status = MAKING_FAILED;
        k->row.error_code = -EINTR;
        free(k->row.error);
        k->row.error = strdup(INTERRUPTED);
        k->row.ended_at = clock_wall_usec();
        store_may_lose(store_making_put(k->images->manager->store, &k->row), "that a making was interrupted");
}

int makings_load(Images *i, Error *reterr) {
        char path[4096];
        Making *k;
        int r;

        (void) snprintf(path, sizeof(path), "%s/makings", i->manager->config.state_dir);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make '%s': %m", path);
        i->makings_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (i->makings_fd < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", path);
        r = store_making_each(i->manager->store, making_take_row, i);
        if (r < 0)
                return error_set(reterr, r, "cannot read the makings: %s", strerror(-r));
        DL_FOREACH(i->makings, k)
                making_settle(k);
        makings_trim(i);
        return 0;
}

/* The rows still say "running": the next start finds out how the makings ended. */
void makings_free(Images *i) {
        while (i->makings) {
                while (i->makings->works)
                        i->makings->works->release(i->makings->works);
                making_free(i->makings);
        }
}
