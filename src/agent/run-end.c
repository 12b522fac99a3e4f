/* run-end.c: the consequences of each way in which an attempt can end.
 *
 *      the program's end         → its result: completed, failed, cancelled
 *      the sandbox's failure     → another attempt after a pause, or a dead letter
 *      there was no room         → back to the queue, as if nothing had been tried
 *
 * The end is in the store before it is reported, and before the sandbox is ended. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/internal.h"
#include "base/log.h"
#include "config/config.h"

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

/* Ends the sandbox without a caller. That of a failed attempt ends at once, so that it does not run while the
 * next attempt does. */

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

/* Writing the end to the store. */

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

static int run_end_write(void *object, Error *reterr) {
        Run *run = object;
        int r;

        prepare_row(run);
        r = run_store(run);
        if (r >= 0)
                return STEP_DONE;
        log_error("agent execution %s: cannot save its state '%s', retrying: %s", run->job.id, job_status_name(run->end),
                        strerror(-r));
        run_arm(run, WRITE_AGAIN, "writing down its end");
        return STEP_WAITS;
}

/* Storing the artifacts. */

static int run_end_keep(void *object, Error *reterr) {
        Run *run = object;

        if (!run->keeps)
                return STEP_DONE;
        run->attempt.ended_at = clock_wall_usec();
        run_arm(run, run->agents->manager->settings->agents.operation_timeout_usec, "collecting its artifacts");
        if (collect_start(run) > 0)
                return STEP_WAITS;
        run->collection = collect_free(run->collection);
        return STEP_DONE;
}

void run_collected(Run *run) {
        run->collection = collect_free(run->collection);
        sequence_heard(&run->ending, NULL);
}

/* The steps of an end. */

static void run_end_tell(void *object, const Error *error) {
        Run *run = object;
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

static const SequenceStep run_end_steps[] = {
        { .name = "collecting its artifacts", .begin = run_end_keep  },
        { .name = "writing down its end",     .begin = run_end_write }, /* before the end is reported; repeated until it works */
};
static const Sequence run_end_sequence = SEQUENCE("end of an agent execution", run_end_steps, run_end_tell);

void run_end_alarm(Run *run) {
        if (!run->collection) {
                sequence_heard_again(&run->ending);
                return;
        }
        free(run->job.capture_error);
        run->job.capture_error = strdup("collecting its artifacts took too long");
        run_collected(run);
}

static void run_end(Run *run, JobStatus end, bool keeps) {
        run->end = end;
        run->keeps = keeps;
        (void) sequence_start(&run->ending, &run_end_sequence, run, /* reterr= */ NULL); /* no step of it fails */
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
                (void) snprintf(text, sizeof(text), "the program was ended after its time limit of %.10g s", (double) j->timeout_usec / 1e6);
        else
                (void) snprintf(text, sizeof(text), "%s", j->message ? j->message : "the program was ended by a signal");
        set_error(run, word_of(j), text);
}

/* The program has ended, by itself or by a signal. */
static void run_conclude(Run *run) {
        if (run->blame == BLAME_NOBODY)
                set_error(run, NULL, NULL);
        else if (run->job.cancel)
                set_error(run, "cancelled", "cancelled while the program was running");
        else
                run_end_explain(run);
        run_end(run, run->blame == BLAME_NOBODY ? JOB_COMPLETED : run->job.cancel ? JOB_CANCELLED : JOB_FAILED, /* keeps= */ true);
}

/* A step has failed. */

static int run_set_failure(Run *run, RunVerdict verdict, const char *word, Error *reterr, const char *format, va_list ap) _printf_(5, 0);
static int run_set_failure(Run *run, RunVerdict verdict, const char *word, Error *reterr, const char *format, va_list ap) {
        run->verdict = verdict;
        run->failure = word;
        (void) vsnprintf(reterr->text, sizeof(reterr->text), format, ap);
        return reterr->code = -EIO; /* the code does not matter, the verdict does */
}

int run_failed(Run *run, RunVerdict verdict, const char *word, Error *reterr, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = run_set_failure(run, verdict, word, reterr, format, ap);
        va_end(ap);
        return r;
}

void run_fail(Run *run, RunVerdict verdict, const char *word, const char *format, ...) {
        Error error = { 0 };
        va_list ap;

        va_start(ap, format);
        (void) run_set_failure(run, verdict, word, &error, format, ap);
        va_end(ap);
        if (sequence_is_under_way(&run->steps))
                sequence_heard(&run->steps, &error);
        else
                run_ended(run, &error);
}

static void run_try_again(Run *run, const char *text) {
        const AgentsConfig *c = &run->agents->manager->settings->agents;
        unsigned failures = run->job.attempt - MIN_OF(run->job.attempt, run->job.attempts_free);

        if (run->job.cancel)
                run_end(run, JOB_CANCELLED, /* keeps= */ false);
        else if (failures >= run->job.attempts_max) {
                log_warning("agent execution %s: given up after %u attempt%s: %s", run->job.id, failures, failures == 1 ? "" : "s", text);
                run_end(run, JOB_DEAD, /* keeps= */ true);
        } else {
                run->agents->counts.retried++;
                run->attempt.pause_usec = run_pause(c, failures);
                run_end(run, JOB_QUEUED, /* keeps= */ false);
        }
}

static void run_undo_attempt(Run *run) {
        run->job.attempt--;
        run->agents->counts.attempts--;
        run->attempt.pause_usec = run->pause_usec;
        run_end(run, JOB_QUEUED, /* keeps= */ false);
}

void run_ended(void *object, const Error *error) {
        Run *run = object;

        if (error && run->verdict != RUN_PUT_BACK)
                set_error(run, run->failure, error->text);
        if (!error)
                run_conclude(run);
        else if (run->verdict == RUN_FAILED)
                run_try_again(run, error->text);
        else if (run->verdict == RUN_REFUSED)
                run_end(run, JOB_FAILED, /* keeps= */ true);
        else
                run_undo_attempt(run);
}
