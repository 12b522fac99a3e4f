/* run-end.c: what follows from each way in which an attempt can end.
 *
 *      the program's end         → its result: completed, failed, cancelled
 *      the sandbox's failure     → another attempt after a pause, or a dead letter
 *      there was no room         → back to the queue, as if nothing had been tried
 *
 * The end is in the store before anybody hears of it, and before the sandbox goes. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/internal.h"
#include "base/log.h"
#include "config/config.h"
#include "agent/rows.h"

#define WRITE_AGAIN (1 * USEC_PER_SEC)

usec_t run_pause(const AgentsConfig *c, unsigned failures) {
        usec_t pause = c->backoff_usec;

        for (unsigned i = 1; i < failures && pause < c->backoff_max_usec; i++)
                pause *= 2;
        return MIN_OF(pause, c->backoff_max_usec);
}

static void set_error(Run *run, const char *code, const char *text) {
        free(run->job.error_code);
        free(run->job.error);
        run->job.error_code = code ? strdup(code) : NULL;
        run->job.error = text ? strdup(text) : NULL;
        free(run->attempt.error_code);
        free(run->attempt.error);
        run->attempt.error_code = code ? strdup(code) : NULL;
        run->attempt.error = text ? strdup(text) : NULL;
}

/* The sandbox goes behind everybody's back; a failed attempt's at once, so that it runs nothing while the next one does. */

static SandboxStatus sandbox_end_of(JobStatus end) {
        switch (end) {
        case JOB_COMPLETED: return SANDBOX_COMPLETED;
        case JOB_CANCELLED: return SANDBOX_TERMINATED;
        default: return SANDBOX_FAILED;
        }
}

static void end_sandbox(Run *run) {
        Sandbox *sb = run_sandbox(run);
        const AgentsConfig *c = &run->agents->manager->settings->agents;
        bool has_run = run->end == JOB_COMPLETED || run->end == JOB_FAILED;

        if (!sb || (has_run && (run->job.keep_sandbox || !c->auto_cleanup)))
                return;
        sandbox_finish(sb, sandbox_end_of(run->end), run->job.error && run->end != JOB_COMPLETED ? run->job.error : "its agent execution is done");
}

/* Writing it down. */

static void prepare_row(Run *run) {
        Job *j = &run->job;
        usec_t now = clock_wall_usec();

        j->status = run->end;
        if (run->attempt.ended_at == 0)
                run->attempt.ended_at = now;
        if (run->end == JOB_QUEUED) {
                j->queued_at = now;
                j->not_before = now + run->attempt.pause_usec;
                return;
        }
        j->ended_at = now;
        j->webhook_status = j->webhook ? WEBHOOK_PENDING : WEBHOOK_NONE;
}

static void run_end_go_on(Run *run) {
        Agents *a = run->agents;

        if (run->end == JOB_QUEUED)
                agents_enqueue(a, &run->job);
        agents_tell(a, &run->job);
        if (run->job.webhook_status == WEBHOOK_PENDING)
                webhook_send(a, run->job.id);
        end_sandbox(run);
        (void) run_free(run);
        agents_pump(a);
}

void run_commit(Run *run) {
        Store *store = run->agents->manager->store;
        int r;

        run->step = RUN_WRITING;
        prepare_row(run);
        (void) store_begin(store);
        (void) store_job_update(store, &run->job);
        (void) store_attempt_put(store, &run->attempt);
        r = store_commit(store);
        if (r >= 0) {
                run_end_go_on(run);
                return;
        }
        log_error("agent execution %s: cannot write down that it is %s, trying again: %s", run->job.id, job_status_name(run->end),
                        strerror(-r));
        run_arm(run, WRITE_AGAIN, "writing down its end");
}

/* Ends that have something to keep, first keep it. */
static void run_end_collect(Run *run, JobStatus end) {
        run->end = end;
        run->step = RUN_COLLECTING;
        run->attempt.ended_at = clock_wall_usec();
        run_arm(run, run->agents->manager->settings->agents.operation_timeout_usec, "keeping what it has left");
        if (collect_start(run) <= 0)
                run_collected(run);
}

void run_collected(Run *run) {
        run->collection = collect_free(run->collection);
        run_commit(run);
}

void run_fail(Run *run, const char *code, const char *format, ...) {
        const AgentsConfig *c = &run->agents->manager->settings->agents;
        unsigned failures = run->job.attempt - MIN_OF(run->job.attempt, run->job.attempts_free);
        char text[ERROR_TEXT_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        run_stop(run);
        set_error(run, code, text);
        if (run->job.cancel) {
                run->end = JOB_CANCELLED;
                run_commit(run);
        } else if (failures >= run->job.attempts_max) {
                log_warning("agent execution %s: given up after %u attempt%s: %s", run->job.id, failures, failures == 1 ? "" : "s", text);
                run_end_collect(run, JOB_DEAD);
        } else {
                run->agents->counts.retried++;
                run->attempt.pause_usec = run_pause(c, failures);
                run->end = JOB_QUEUED;
                run_commit(run);
        }
}

void run_refuse(Run *run, const char *code, const char *format, ...) {
        char text[ERROR_TEXT_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        run_stop(run);
        set_error(run, code, text);
        run_end_collect(run, JOB_FAILED);
}

void run_put_back(Run *run, usec_t pause_usec) {
        run_stop(run);
        run->job.attempt--;
        run->agents->counts.attempts--;
        run->attempt.pause_usec = pause_usec;
        run->end = JOB_QUEUED;
        run_commit(run);
}

static const char *word_of(const Job *j) {
        return j->reason == EXECUTION_REASON_EXITED ? "exit_code" : execution_reason_name(j->reason);
}

static void run_end_explain(Run *run) {
        const Job *j = &run->job;
        char text[ERROR_TEXT_MAX];

        if (j->reason == EXECUTION_REASON_EXITED)
                (void) snprintf(text, sizeof(text), "the program ended with exit code %d", j->exit_code);
        else if (j->reason == EXECUTION_REASON_TIMEOUT)
                (void) snprintf(text, sizeof(text), "the program was ended after its time limit of %.3g s", (double) j->timeout_usec / 1e6);
        else
                (void) snprintf(text, sizeof(text), "%s", j->message ? j->message : "the program was ended by a signal");
        set_error(run, word_of(j), text);
}

void run_conclude(Run *run) {
        if (run->blame == BLAME_SANDBOX && !run->job.cancel) {
                run_fail(run, "sandbox_ended", "%s", run->job.message ? run->job.message : "the sandbox ended under the program");
                return;
        }
        if (run->blame == BLAME_NOBODY)
                set_error(run, NULL, NULL);
        else if (run->job.cancel)
                set_error(run, "cancelled", "cancelled while the program was running");
        else
                run_end_explain(run);
        run_end_collect(run, run->job.cancel && run->blame != BLAME_NOBODY ? JOB_CANCELLED : run->blame == BLAME_NOBODY ? JOB_COMPLETED : JOB_FAILED);
}
