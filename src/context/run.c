/* run.c: pieces of code, one after the other in each context.
 *
 * While a context is busy, the first run of its queue is the current one. A run without a client stays until the
 * driver has reported its end; otherwise its events would be mixed up with those of the next run. An interruption
 * that is not obeyed is repeated, and finally the interpreter is killed: a context without its state is better than
 * one that hangs forever. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "core/secrets.h"
#include "context/internal.h"

#define INTERRUPT_AGAIN_USEC (2 * USEC_PER_SEC)
#define INTERRUPTS_MAX       5
#define RUNS_MAX             64 /* waiting in one context */

struct ContextRun {
        ContextEntry *entry;
        uint64_t number;
        char *request; /* until it was sent */
        size_t request_size;
        ContextHandlers handlers;
        void *userdata;
        usec_t timeout_usec;
        sd_event_source *timer;
        bool cancelled, timed_out, failed;
        ContextRun *prev, *next;
};

static ContextRun *context_run_free(ContextRun *run) {
        sd_event_source_disable_unref(run->timer);
        if (run->request)
                explicit_bzero(run->request, run->request_size);
        free(run->request);
        free(run);
        return NULL;
}

static void context_run_finish(ContextRun *run, int r, const char *text) {
        if (!run->cancelled)
                run->handlers.end(run, r, text, run->userdata);
        (void) context_run_free(run);
}

static void context_run_tell(ContextEntry *e, json_t *event) {
        ContextRun *run = e->x.busy ? e->runs : NULL;

        if (run && event && !run->cancelled)
                run->handlers.event(run, event, run->userdata);
}

/* Interruption. */

static int on_disobedience(sd_event_source *source, uint64_t usec, void *userdata) {
        ContextEntry *e = userdata;

        if (e->interrupts >= INTERRUPTS_MAX) {
                context_entry_over(e, "the interpreter did not obey an interruption and was killed; its state is gone");
                return 0;
        }
        context_runs_interrupt(e);
        return 0;
}

void context_runs_interrupt(ContextEntry *e) {
        char line[48];
        int n;

        if (!e->x.busy || e->state != CONTEXT_STANDS)
                return;
        e->interrupts++;
        if (e->language->by_signal && e->execution)
                (void) execution_signal(e->execution, SIGINT);
        n = snprintf(line, sizeof(line), "interrupt%c%" PRIu64 "\n", CONTEXT_SEPARATOR, e->runs->number);
        (void) context_link_send(&e->link, line, (size_t) n);
        e->deadline = sd_event_source_disable_unref(e->deadline);
        (void) sd_event_add_time_relative(e->contexts->manager->event, &e->deadline, CLOCK_MONOTONIC, INTERRUPT_AGAIN_USEC, 0, on_disobedience, e);
}

int context_interrupt(Context *x) {
        ContextEntry *e = (ContextEntry *) x;

        if (!e->x.busy)
                return 0;
        e->interrupts = 0;
        context_runs_interrupt(e);
        return 1;
}

static int context_run_on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        ContextRun *run = userdata;

        run->timed_out = true;
        run->entry->interrupts = 0;
        context_runs_interrupt(run->entry);
        return 0;
}

/* One after the other. */

/* Sends the environment of its owner's sandbox, once there is an owner. */
static int tell_environment(ContextEntry *e) {
        _cleanup_(secrets_strv_done) Strv env = STRV_INIT(0);
        Text t = TEXT_INIT(4 * CONTEXT_CODE_MAX);
        Error error = { 0 };
        int r;

        if (!e->unowned || e->x.sandbox->pooled)
                return 0;
        r = sandbox_environment(e->x.sandbox, e->spec.has_user ? e->spec.uid : e->x.sandbox->spec.uid, &env, &error);
        if (r < 0)
                return r;
        (void) context_request_put(&t, "env");
        for (size_t i = 0; i < env.n; i++)
                (void) context_request_put(&t, env.items[i]);
        text_put_string(&t, "\n");
        r = t.error < 0 ? t.error : context_link_send(&e->link, t.data, t.size);
        if (t.data)
                explicit_bzero(t.data, t.size);
        text_done(&t);
        e->unowned = r < 0;
        return r;
}

/* Kills by the kernel from now on may be this run's doing; an earlier kill of a child that was not missed is not. */
static void note_memory_kills(ContextEntry *e) {
        e->memory_kills = sandbox_memory_kills(e->x.sandbox);
        if (e->execution)
                e->execution->memory_kills = e->memory_kills;
}

static int context_run_start(ContextEntry *e, ContextRun *run) {
        _cleanup_json_ json_t *event = NULL;
        int r;

        note_memory_kills(e);
        r = tell_environment(e);
        if (r >= 0)
                r = context_link_send(&e->link, run->request, run->request_size);
        if (r < 0)
                return r;
        explicit_bzero(run->request, run->request_size);
        run->request = (free(run->request), NULL);
        e->x.busy = true;
        e->x.n_runs++;
        e->interrupts = 0;
        context_entry_set_idle(e, false);
        if (run->timeout_usec > 0)
                (void) sd_event_add_time_relative(e->contexts->manager->event, &run->timer, CLOCK_MONOTONIC, run->timeout_usec, 0, context_run_on_timeout, run);
        event = json_pack("{s:s,s:I}", "type", "number_of_executions", "execution_count", (json_int_t) e->x.n_runs);
        context_run_tell(e, event);
        return 0;
}

void context_runs_next(ContextEntry *e) {
        while (e->state == CONTEXT_STANDS && !e->x.busy && e->runs) {
                ContextRun *run = e->runs;
                int r = context_run_start(e, run);

                if (r >= 0)
                        return;
                DL_DELETE(e->runs, run);
                context_run_finish(run, r, "the interpreter cannot be reached");
        }
}

static void end_current(ContextEntry *e) {
        ContextRun *run = e->runs;

        context_link_pause(&e->link, false);
        e->deadline = sd_event_source_disable_unref(e->deadline);
        e->interrupts = 0;
        e->x.busy = false;
        context_entry_set_idle(e, true);
        DL_DELETE(e->runs, run);
        context_run_finish(run, 0, NULL); /* the callback may have requested the next run, or ended everything */
}

static json_t *timeout_event(const ContextRun *run) {
        char text[80];

        (void) snprintf(text, sizeof(text), "execution timed out after %.10g s", (double) run->timeout_usec / (double) USEC_PER_SEC);
        return context_event_error("TimeoutError", text);
}

void context_runs_event(ContextEntry *e, json_t *event, uint64_t number) {
        const char *type = json_string_value(json_object_get(event, "type"));
        _cleanup_json_ json_t *other = NULL;
        ContextRun *run = e->runs;

        if (!e->x.busy || number != run->number)
                return; /* from a run that is over: a thread that it left behind */
        if (run->timed_out && strcmp(type, "error") == 0)
                event = other = timeout_event(run);
        run->failed |= strcmp(type, "error") == 0;
        if (strcmp(type, "end_of_execution") == 0)
                context_link_drain(&e->link, /* final= */ true);
        if (strcmp(type, "end_of_execution") == 0 && e->x.busy && run->timed_out && !run->failed) { /* code that catches its interruption, as %%bash does */
                _cleanup_json_ json_t *timeout = timeout_event(run);

                context_run_tell(e, timeout);
        }
        if (e->state == CONTEXT_STANDS && e->x.busy)
                context_run_tell(e, event);
        if (e->state != CONTEXT_STANDS || !e->x.busy || strcmp(type, "end_of_execution") != 0)
                return;
        end_current(e);
        context_runs_next(e);
}

void context_runs_stream(ContextEntry *e, bool is_stderr, const char *data, size_t size) {
        _cleanup_json_ json_t *event = e->x.busy ? context_event_stream(is_stderr, data, size) : NULL;

        context_run_tell(e, event);
}

void context_runs_fail(ContextEntry *e, int r, const char *text) {
        e->x.busy = false;
        e->deadline = sd_event_source_disable_unref(e->deadline);
        while (e->runs) {
                ContextRun *run = e->runs;

                DL_DELETE(e->runs, run);
                context_run_finish(run, r, text);
        }
}

void context_runs_resumed(ContextEntry *e, uint64_t count) {
        e->x.n_runs = count;
        e->x.busy = false;
        context_entry_set_idle(e, true);
}

/* Asking. */

static int context_run_make_request(ContextRun *run, const char *code, const Strv *env) {
        Text t = TEXT_INIT(4 * CONTEXT_CODE_MAX);
        char number[24];

        (void) snprintf(number, sizeof(number), "%" PRIu64, run->number);
        (void) context_request_put(&t, "run");
        (void) context_request_put(&t, number);
        (void) context_request_put(&t, code);
        for (size_t i = 0; env && i < env->n; i++)
                (void) context_request_put(&t, env->items[i]);
        text_put_string(&t, "\n");
        if (t.error < 0) {
                int r = t.error;

                text_done(&t);
                return r;
        }
        run->request = t.data;
        run->request_size = t.size;
        return 0;
}

static int context_run_check(const ContextEntry *e, const char *code, Error *reterr) {
        const Sandbox *sb = e->x.sandbox;
        const ContextRun *run;
        unsigned n = 0;

        if (e->state == CONTEXT_OVER)
                return error_set(reterr, -EPIPE, "%s", e->why);
        if (!sandbox_is_up(sb))
                return error_set(reterr, -ESTALE, "Sandbox not running (state: %s)", sandbox_status_name(sb->status));
        if (sb->mask_lost)
                return error_set(reterr, -EKEYREVOKED, "This sandbox was given secrets that cannot be read, so they cannot be hidden in what code prints (see `cove health`)");
        if (strlen(code) > CONTEXT_CODE_MAX)
                return error_set(reterr, -EFBIG, "the code has more than %zu bytes", CONTEXT_CODE_MAX);
        DL_FOREACH(e->runs, run)
                n++;
        if (n >= RUNS_MAX)
                return error_set(reterr, -EDQUOT, "%u pieces of code wait in this context already", n);
        return 0;
}

int context_run(Context *x, const Principal *who, const char *code, const Strv *env, usec_t timeout_usec, const ContextHandlers *handlers, void *userdata, ContextRun **ret, Error *reterr) {
        ContextEntry *e = (ContextEntry *) x;
        _cleanup_(secrets_strv_done) Strv all = STRV_INIT(SANDBOX_ENV_MAX);
        ContextRun *run;
        int r = context_run_check(e, code, reterr);

        if (r >= 0)
                r = secrets_allow(who, env, reterr);
        if (r >= 0)
                r = strv_extend(&all, env);
        if (r >= 0)
                r = secrets_resolve(x->sandbox, &all, reterr);
        if (r < 0)
                return reterr->code != 0 ? r : error_set(reterr, r, "%m");
        run = calloc(1, sizeof(*run));
        if (!run)
                return error_set(reterr, -ENOMEM, "out of memory");
        *run = (ContextRun) { .entry = e, .number = ++e->last_run, .handlers = *handlers, .userdata = userdata, .timeout_usec = timeout_usec };
        r = context_run_make_request(run, code, &all);
        if (r < 0) {
                (void) context_run_free(run);
                return error_set(reterr, r, "cannot pass the code on: %m");
        }
        DL_APPEND(e->runs, run);
        *ret = run;
        x->sandbox->operations++;
        if (e->state == CONTEXT_STANDS && !e->x.busy)
                context_entry_wake(e);
        return 0;
}

ContextRun *contextrun_cancel(ContextRun *run) {
        ContextEntry *e;

        if (!run)
                return NULL;
        e = run->entry;
        run->cancelled = true;
        if (e->x.busy && run == e->runs) {
                e->interrupts = 0;
                context_link_pause(&e->link, false);
                context_runs_interrupt(e);
                return NULL;
        }
        DL_DELETE(e->runs, run);
        return context_run_free(run);
}

void contextrun_pause(ContextRun *run, bool pause) {
        ContextEntry *e = run->entry;

        if (e->x.busy && run == e->runs)
                context_link_pause(&e->link, pause);
}
