/* context.c: one context, from its beginning to its end.
 *
 * No call frees a context or calls a waiter directly: the work is noted, and the event source `later` does it. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/fd.h"
#include "base/log.h"
#include "context/internal.h"

#define READY_USEC   (60 * USEC_PER_SEC)
#define RUBBISH_MAX  1000
#define ARGS_MAX     16
#define EXIT_NOT_FOUND 127 /* a shell's exit status for a missing program */

static const ContextLinkHandlers link_handlers;

static void context_waiter_free(ContextEntry *e, ContextWaiter *w) {
        DL_DELETE(e->waiters, w);
        DL_DELETE2(e->contexts->waiters, w, all_prev, all_next);
        free(w);
}

static void context_tell_waiters(ContextEntry *e, const Error *error) {
        while (e->waiters) {
                ContextWaiter w = *e->waiters;

                context_waiter_free(e, e->waiters);
                if (w.done)
                        w.done(error ? NULL : &e->x, error, w.userdata);
        }
}

static void context_let_go(ContextEntry *e) {
        e->deadline = sd_event_source_disable_unref(e->deadline);
        e->zygote = zygote_cancel(e->zygote);
        context_link_close(&e->link);
        if (e->execution) {
                execution_forget_channel(e->execution);
                execution_unwatch(&e->watch);
        }
}

ContextEntry *context_entry_free(ContextEntry *e) {
        e->zygote = zygote_cancel(e->zygote);
        if (e->counted)
                context_entry_set_idle(e, true);
        context_let_go(e);
        while (e->waiters)
                context_waiter_free(e, e->waiters);
        sd_event_source_disable_unref(e->later);
        DL_DELETE(e->seat->entries, e);
        free(e->x.cwd);
        free(e);
        return NULL;
}

static int context_on_later(sd_event_source *source, void *userdata) {
        ContextEntry *e = userdata;
        ContextSeat *s = e->seat;

        if (e->state == CONTEXT_OVER) {
                Error error = { .code = e->error ? e->error : -EPIPE };

                (void) snprintf(error.text, sizeof(error.text), "%s", e->why);
                e->later = sd_event_source_unref(e->later);
                context_tell_waiters(e, &error);
                (void) context_entry_free(e);
                context_seat_release(s);
                return 0;
        }
        if (e->state == CONTEXT_STANDS)
                context_tell_waiters(e, NULL);
        if (e->state == CONTEXT_STANDS)
                context_runs_next(e);
        return 0;
}

void context_entry_wake(ContextEntry *e) {
        (void) sd_event_source_set_enabled(e->later, SD_EVENT_ONESHOT);
}

/* An execution counts as work from its start; a zygote's child counts only while it runs something. */
void context_entry_set_idle(ContextEntry *e, bool idle) {
        if (e->execution)
                execution_set_idle(e->execution, idle);
        else if (e->counted == idle) {
                e->counted = !idle;
                sandbox_count_work(e->x.sandbox, idle ? -1 : 1);
        }
}

/* Saves what contexts.c needs to find the context again. */
static void context_keep(ContextEntry *e) {
        char text[SANDBOX_KEPT_TEXT_MAX];
        int n = snprintf(text, sizeof(text), "%s%c%s%c%s", e->x.id, CONTEXT_SEPARATOR, e->x.language, CONTEXT_SEPARATOR, e->x.cwd);

        if (n > 0 && (size_t) n < sizeof(text) && context_link_is_open(&e->link))
                (void) sandbox_keep_channel(e->x.sandbox, e->pid, e->link.fds, text);
}

static void kill_process(ContextEntry *e) {
        e->zygote = zygote_cancel(e->zygote);
        if (e->counted)
                context_entry_set_idle(e, true);
        if (e->execution)
                (void) execution_signal(e->execution, SIGKILL);
        else if (e->pid > 0)
                (void) sandbox_kill_process(e->x.sandbox, e->pid, SIGKILL);
        if (e->pid > 0)
                (void) sandbox_keep_channel(e->x.sandbox, e->pid, NULL, "");
        if (e->execution)
                execution_set_idle(e->execution, false); /* a dying execution counts as work */
        e->pid = 0;
}

void context_entry_over(ContextEntry *e, const char *format, ...) {
        va_list args;

        if (e->state == CONTEXT_OVER)
                return;
        va_start(args, format);
        (void) vsnprintf(e->why, sizeof(e->why), format, args);
        va_end(args);
        e->state = CONTEXT_OVER;
        kill_process(e);
        context_let_go(e);
        e->execution = NULL;
        context_runs_fail(e, -EPIPE, e->why);
        context_entry_wake(e);
}

/* Messages of the interpreter. */

static void context_on_ready(ContextEntry *e) {
        if (e->state != CONTEXT_BEGINNING)
                return;
        e->state = CONTEXT_STANDS;
        e->deadline = sd_event_source_disable_unref(e->deadline);
        context_entry_set_idle(e, true);
        context_entry_wake(e);
}

static void context_on_synced(ContextEntry *e, const json_t *event) {
        if (e->state != CONTEXT_ADOPTING || strcmp(json_string_value(json_object_get(event, "token")), e->token) != 0)
                return;
        e->state = CONTEXT_STANDS;
        e->deadline = sd_event_source_disable_unref(e->deadline);
        context_runs_resumed(e, (uint64_t) json_integer_value(json_object_get(event, "count")));
        context_entry_wake(e);
}

static ContextEntry *context_entry_of(ContextLink *l) {
        return (ContextEntry *) (void *) ((char *) l - offsetof(ContextEntry, link));
}

static void context_on_line(ContextLink *l, const char *line, size_t size) {
        ContextEntry *e = context_entry_of(l);
        _cleanup_json_ json_t *event = NULL;
        const char *type;
        uint64_t run;

        if (context_event_read(line, size, e->x.sandbox->mask, &event, &run) < 0) {
                if (e->state == CONTEXT_STANDS && ++e->rubbish > RUBBISH_MAX)
                        context_entry_over(e, "the interpreter's driver sent invalid data and was killed");
                return;
        }
        type = json_string_value(json_object_get(event, "type"));
        if (strcmp(type, "ready") == 0)
                context_on_ready(e);
        else if (strcmp(type, "synced") == 0)
                context_on_synced(e, event);
        else if (e->state == CONTEXT_STANDS)
                context_runs_event(e, event, run);
}

static void context_on_stream(ContextLink *l, bool is_stderr, const char *data, size_t size) {
        ContextEntry *e = context_entry_of(l);

        if (e->state == CONTEXT_BEGINNING && is_stderr) /* the interpreter's error message, in case it does not start */
                (void) snprintf(e->complaint, sizeof(e->complaint), "%.*s", (int) MIN_OF(size, sizeof(e->complaint) - 1), data);
        context_runs_stream(e, is_stderr, data, size);
}

/* Names the limit and the remedy. */
static void explain_memory(const ContextEntry *e, char *ret, size_t size) {
        (void) snprintf(ret, size,
                        "out of memory: the kernel killed the interpreter at the sandbox's limit of %" PRIu64 " MB, and its state is gone; use less memory, or make the sandbox with more "
                        "(limits.memoryMB, cove create --memory; in E2B's SDK, memoryMB of a template's build)",
                        e->x.sandbox->spec.limits.memory_bytes >> 20);
}

/* If there is an execution, its end explains what happened; its channel may be the first to report. */
static void context_on_closed(ContextLink *l) {
        ContextEntry *e = context_entry_of(l);

        if (e->execution && !execution_ended(e->execution)) {
                context_link_close(l);
                e->closing = true;
                execution_sweep(e->execution); /* unlike a kill request, this does not hide a kill for lack of memory */
                return;
        }
        if (sandbox_take_memory_kill(e->x.sandbox, e->memory_kills)) {
                char text[400];

                explain_memory(e, text, sizeof(text));
                context_entry_over(e, "%s", text);
                return;
        }
        context_entry_over(e, "the interpreter has ended; its state is gone");
}

static const ContextLinkHandlers link_handlers = { .line = context_on_line, .stream = context_on_stream, .closed = context_on_closed };

/* The end of its execution. */

static void explain_end(ContextEntry *e, const Execution *x, char *ret, size_t size) {
        const char *complaint = e->complaint[0] ? strrchr(e->complaint, '\n') : NULL;

        if (x->reason == EXECUTION_REASON_NOT_FOUND || (e->state == CONTEXT_BEGINNING && x->exit_code == EXIT_NOT_FOUND)) {
                e->error = -EOPNOTSUPP;
                (void) snprintf(ret, size, "the template has no %s: install %s in it, or take another template", e->language->program, e->language->cure);
        } else if (x->reason == EXECUTION_REASON_EXITED && !e->closing && e->state == CONTEXT_BEGINNING)
                (void) snprintf(ret, size, "%s ended with code %d before it could run anything%s%.200s", e->language->program, x->exit_code,
                                e->complaint[0] ? ": " : "", complaint && complaint[1] ? complaint + 1 : e->complaint);
        else if (x->reason == EXECUTION_REASON_MEMORY)
                explain_memory(e, ret, size);
        else if (x->message && x->reason != EXECUTION_REASON_EXITED && x->reason != EXECUTION_REASON_SIGNALED)
                (void) snprintf(ret, size, "%.390s", x->message);
        else if (x->exit_code >= 0)
                (void) snprintf(ret, size, "the interpreter has ended with code %d; its state is gone", x->exit_code);
        else
                (void) snprintf(ret, size, "the interpreter was ended by signal %d; its state is gone", x->signal);
}

static void context_on_execution(Execution *x, void *userdata) {
        ContextEntry *e = userdata;
        char text[400];

        if (!execution_ended(x))
                return;
        if (context_link_is_open(&e->link))
                context_link_finish(&e->link); /* reads its last output */
        if (e->state == CONTEXT_OVER)
                return;
        explain_end(e, x, text, sizeof(text));
        execution_forget_channel(x); /* the channel may be reported after the end */
        execution_unwatch(&e->watch);
        e->execution = NULL;
        context_entry_over(e, "%s", text);
}

/* Beginning. */

static int context_on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        ContextEntry *e = userdata;

        context_entry_over(e, "the interpreter did not become ready in %u seconds", (unsigned) (READY_USEC / USEC_PER_SEC));
        return 0;
}

static int send_source(ContextEntry *e) {
        char header[24];
        const char *source;
        size_t size;
        int r = context_language_source(e->language, &source, &size);

        if (r < 0)
                return r;
        (void) snprintf(header, sizeof(header), "%zu\n", size);
        r = context_link_send(&e->link, header, strlen(header));
        return r < 0 ? r : context_link_send(&e->link, source, size);
}

/* A newline first: the one before us may have been cut off in the middle of a line. */
static int send_sync(ContextEntry *e) {
        uint64_t random;
        char line[64];
        int n;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                return -EIO;
        (void) snprintf(e->token, sizeof(e->token), "%016" PRIx64, random);
        n = snprintf(line, sizeof(line), "\nsync%c%s\n", CONTEXT_SEPARATOR, e->token);
        return context_link_send(&e->link, line, (size_t) n);
}

static void speak(ContextEntry *e, int r, int fds[static _EXECUTION_CHANNEL_MAX]) {
        if (r >= 0)
                r = context_link_open(&e->link, fds);
        if (r >= 0)
                r = e->state == CONTEXT_ADOPTING ? send_sync(e) : send_source(e);
        if (r >= 0 && e->state == CONTEXT_ADOPTING && e->execution && e->language->by_signal)
                (void) execution_signal(e->execution, SIGINT);
        if (r < 0 && r != -ESRCH) /* … then its end is reported next */
                context_entry_over(e, "cannot communicate with the interpreter: %s", strerror(-r));
}

static void context_on_channel(Execution *x, int error, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata) {
        speak(userdata, -error, fds);
}

static int context_attach(ContextEntry *e, Execution *x) {
        int r;

        e->deadline = sd_event_source_disable_unref(e->deadline);
        e->execution = x;
        e->watch = (ExecutionWatch) { .changed = context_on_execution, .userdata = e };
        r = execution_watch(x, &e->watch);
        if (r >= 0)
                r = execution_open_channel(x, context_on_channel, e);
        if (r >= 0)
                r = sd_event_add_time_relative(e->contexts->manager->event, &e->deadline, CLOCK_MONOTONIC, READY_USEC, 0, context_on_deadline, e);
        return r;
}

static int start_execution(ContextEntry *e, Error *reterr) {
        ExecutionSpec spec = { .args = STRV_INIT(ARGS_MAX), .env = STRV_INIT(ARGS_MAX), .env_is_ours = true, .has_timeout = true, .background = true, .channel = true };
        char tag[sizeof(CONTEXT_TAG) + CONTEXT_ID_MAX];
        Execution *x = NULL;
        int r = 0;

        (void) snprintf(tag, sizeof(tag), "%s%s", CONTEXT_TAG, e->x.id);
        for (size_t i = 0; r >= 0 && e->language->args[i]; i++)
                r = strv_push(&spec.args, e->language->args[i]);
        if (r >= 0)
                r = strv_push(&spec.args, e->language->name);
        spec.tag = strdup(tag);
        spec.cwd = strdup(e->x.cwd);
        spec.has_user = e->spec.has_user;
        spec.uid = e->spec.uid;
        spec.gid = e->spec.gid;
        if (r >= 0 && (!spec.tag || !spec.cwd))
                r = -ENOMEM;
        r = r < 0 ? error_set(reterr, r, "out of memory") : execution_start(e->x.sandbox, &principal_daemon, &spec, &x, reterr);
        execution_spec_done(&spec);
        if (r < 0)
                return r;
        r = context_attach(e, x);
        return r < 0 ? error_set(reterr, r, "cannot communicate with the interpreter: %m") : 0;
}

/* A zygote that is missing, or whose modules differ from the sandbox's by now, costs only time. */
static void context_on_forked(int r, int fds[static _EXECUTION_CHANNEL_MAX], int pid, const Error *error, void *userdata) {
        ContextEntry *e = userdata;
        Error failure = { 0 };

        e->zygote = NULL;
        if (r >= 0) {
                e->pid = pid;
                e->x.warm = true;
                speak(e, 0, fds);
                context_keep(e);
                return;
        }
        e->deadline = sd_event_source_disable_unref(e->deadline);
        r = start_execution(e, &failure);
        if (r < 0) {
                e->error = r;
                context_entry_over(e, "%s", failure.text);
        }
}

static int start_forked(ContextEntry *e) {
        const SandboxSpec *spec = &e->x.sandbox->spec;
        int r = zygote_fork(e->x.sandbox, e->language->name, e->spec.has_user ? e->spec.uid : spec->uid, e->spec.has_user ? e->spec.gid : spec->gid, e->x.cwd, context_on_forked, e,
                        &e->zygote, /* reterr= */ NULL);

        if (r >= 0)
                r = sd_event_add_time_relative(e->contexts->manager->event, &e->deadline, CLOCK_MONOTONIC, READY_USEC, 0, context_on_deadline, e);
        if (r < 0)
                e->zygote = zygote_cancel(e->zygote);
        return r;
}

int context_entry_start(ContextEntry *e, Error *reterr) {
        e->state = CONTEXT_BEGINNING;
        e->complaint[0] = '\0';
        e->closing = false;
        return start_forked(e) >= 0 ? 0 : start_execution(e, reterr);
}

int context_entry_adopt(ContextEntry *e, Execution *x) {
        e->state = CONTEXT_ADOPTING;
        return context_attach(e, x);
}

int context_entry_adopt_kept(ContextEntry *e, int pid, int fds[static _EXECUTION_CHANNEL_MAX]) {
        int r;

        e->state = CONTEXT_ADOPTING;
        e->pid = pid;
        e->x.warm = true;
        r = context_link_open(&e->link, fds);
        if (r >= 0)
                r = send_sync(e);
        if (r >= 0)
                r = sd_event_add_time_relative(e->contexts->manager->event, &e->deadline, CLOCK_MONOTONIC, READY_USEC, 0, context_on_deadline, e);
        return r;
}

int context_entry_wait(ContextEntry *e, ContextDone done, void *userdata) {
        ContextWaiter *w = calloc(1, sizeof(*w));

        if (!w)
                return -ENOMEM;
        *w = (ContextWaiter) { .done = done, .userdata = userdata };
        DL_APPEND(e->waiters, w);
        DL_APPEND2(e->contexts->waiters, w, all_prev, all_next);
        context_entry_wake(e);
        return 0;
}

int context_entry_new(ContextSeat *s, const char *id, const ContextLanguage *l, const ContextSpec *spec, ContextEntry **ret, Error *reterr) {
        ContextEntry *e = calloc(1, sizeof(*e));
        int r;

        if (!e)
                return error_set(reterr, -ENOMEM, "out of memory");
        *e = (ContextEntry) {
                .x = { .language = l->name, .sandbox = s->sandbox, .created_at = clock_wall_usec(), .cwd = strdup(spec->cwd) },
                .contexts = s->contexts,
                .seat = s,
                .language = l,
                .spec = *spec,
        };
        e->unowned = e->x.warm = s->sandbox->pooled;
        (void) snprintf(e->x.id, sizeof(e->x.id), "%s", id);
        context_link_init(&e->link, &link_handlers, s->contexts->manager->event);
        e->link.mask = (const Mask *const *) &s->sandbox->mask;
        r = e->x.cwd ? sd_event_add_defer(s->contexts->manager->event, &e->later, context_on_later, e) : -ENOMEM;
        if (r >= 0)
                r = sd_event_source_set_enabled(e->later, SD_EVENT_OFF);
        DL_APPEND(s->entries, e);
        if (r < 0) {
                (void) context_entry_free(e);
                return error_set(reterr, r, "cannot make a context: %m");
        }
        e->spec.cwd = e->x.cwd;
        *ret = e;
        return 0;
}

/* Requests of other rooms. */

void context_end(Context *x) {
        context_entry_over((ContextEntry *) x, "the context was removed");
}

int context_restart(Context *x, ContextDone done, void *userdata, Error *reterr) {
        ContextEntry *e = (ContextEntry *) x;
        Error error = { 0 };
        int r = execution_check_begin(x->sandbox, reterr); /* before the present state is given up */

        if (r < 0)
                return r;
        context_runs_fail(e, -EPIPE, "the context was restarted");
        kill_process(e);
        context_let_go(e);
        e->execution = NULL;
        x->n_runs = 0;
        x->warm = false;
        e->unowned = x->sandbox->pooled;
        r = context_entry_wait(e, done, userdata);
        if (r >= 0)
                r = context_entry_start(e, &error);
        if (r < 0) {
                e->error = r;
                context_entry_over(e, "%s", error.text[0] ? error.text : strerror(-r));
        }
        return 0;
}
