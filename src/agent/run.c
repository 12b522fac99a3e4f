/* run.c: one attempt, step by step.
 *
 *      sandbox    made, or waited for (run-sandbox.c)
 *      turn       a slot among those that may run at once
 *      context    writes the file that describes the task to the program
 *      code       writes the program itself, if it came with the request
 *      program    runs it
 *
 * run-end.c handles the program's end and failed steps. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "agent/internal.h"
#include "base/fd.h"
#include "base/log.h"
#include "core/mask.h"
#include "config/config.h"
#include "core/enforce.h"
#include "core/reap.h"
#include "agent/rows.h"

#define FULL_PAUSE    (1 * USEC_PER_SEC)
#define ALARM_ACCURACY (10 * USEC_PER_MSEC)
#define FILE_MODE      0644
#define ENV_MAX        16

Run *run_new(Agents *a, Job *job) {
        Run *run = calloc(1, sizeof(*run));

        if (!run)
                return NULL;
        run->agents = a;
        run->job = *job;
        memset(job, 0, sizeof(*job));
        memcpy(run->attempt.job, run->job.id, sizeof(run->attempt.job));
        HASH_ADD(hh, a->runs, job.id, strlen(run->job.id), run);
        run->slot = true;
        a->n_slots++;
        return run;
}

void run_leave_slot(Run *run) {
        if (run->slot)
                run->agents->n_slots--;
        run->slot = false;
}

void run_open_lane(Run *run) {
        if (run->parked)
                queue_close(run->agents->queue, run->job.sandbox.tenant, run->job.sandbox.profile, /* closed= */ false);
        run->parked = false;
}

void run_leave_held(Run *run) {
        if (run->held)
                DL_DELETE2(run->agents->held, run, held_prev, held_next);
        run->held = false;
}

/* The sandbox and its contents stay. */
Run *run_free(Run *run) {
        if (!run)
                return NULL;
        HASH_DEL(run->agents->runs, run);
        run_leave_held(run);
        run_leave_slot(run);
        run_open_lane(run);
        if (run->acquisition)
                acquisition_cancel(run->acquisition);
        (void) upload_free(run->upload);
        (void) collect_free(run->collection);
        execution_unwatch(&run->watch);
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                (void) output_close(run->outputs[s]);
        mask_unref(run->mask);
        (void) sandbox_unref(run->sandbox);
        sd_event_source_disable_unref(run->alarm);
        sd_event_source_disable_unref(run->later);
        job_attempt_done(&run->attempt);
        job_done(&run->job);
        free(run);
        return NULL;
}

void run_name(const Run *run, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s-%u", run->job.id, run->job.attempt);
}

Sandbox *run_sandbox(const Run *run) {
        return sandbox_unless_gone(run->sandbox);
}

void run_set_sandbox(Run *run, Sandbox *sb) {
        memcpy(run->job.sandbox_id, sb->id, sizeof(run->job.sandbox_id));
        sandbox_ref_set(&run->sandbox, sb);
}

Sandbox *run_named_sandbox(const Run *run) {
        const char *tenant = run->job.sandbox.tenant;
        Principal who = { .kind = PRINCIPAL_USE_KEY, .tenant = tenant && *tenant ? tenant : NULL };
        char name[SANDBOX_NAME_MAX + 1];

        run_name(run, name, sizeof(name));
        return manager_find(run->agents->manager, &who, name);
}

/* Every operation on a sandbox has a time limit; if one takes longer, the sandbox counts as lost. */

static int on_alarm(sd_event_source *source, uint64_t usec, void *userdata) {
        Run *run = userdata;
        const Sandbox *sb = run->parked ? run_named_sandbox(run) : NULL;
        usec_t patience = run->agents->manager->settings->agents.ready_timeout_usec;

        run->alarm = sd_event_source_disable_unref(run->alarm);
        if (sequence_is_under_way(&run->ending))
                run_end_alarm(run);
        else if (run->parked && (!sb || sb->status != SANDBOX_INITIALIZING || sandbox_age(sb) < patience))
                run_arm(run, run->operation_usec, run->operation); /* waiting in the queue is no operation */
        else
                run_fail(run, RUN_FAILED, "operation_timeout", "%s took longer than %.10g s", run->operation, (double) run->operation_usec / 1e6);
        return 0;
}

void run_arm(Run *run, usec_t usec, const char *operation) {
        run->alarm = sd_event_source_disable_unref(run->alarm);
        run->operation = operation;
        run->operation_usec = usec;
        if (usec > 0 && usec != USEC_INFINITY)
                (void) sd_event_add_time_relative(run->agents->manager->event, &run->alarm, CLOCK_MONOTONIC, usec, ALARM_ACCURACY, on_alarm, run);
}

void run_disarm(Run *run) {
        run->alarm = sd_event_source_disable_unref(run->alarm);
}

static usec_t operation_timeout(const Run *run) {
        return run->agents->manager->settings->agents.operation_timeout_usec;
}

int run_store(Run *run) {
        Store *store = run->agents->manager->store;
        int r;

        (void) store_begin(store);
        r = store_job_update(store, &run->job);
        if (r >= 0)
                r = store_attempt_put(store, &run->attempt);
        return store_end(store, r);
}

/* If this write fails, a later daemon finds sandbox and execution by their names. */
static void agent_run_write_down(Run *run) {
        int r = run_store(run);

        if (r < 0)
                log_warning("agent execution %s: cannot save its state '%s', continuing: %s", run->job.id,
                                job_status_name(run->job.status), strerror(-r));
}

/* Its files. */

static void context_path(Sandbox *sb, char *ret, size_t size) {
        const Enforce *e = sandbox_enforce(sb);

        (void) snprintf(ret, size, "%s/%s", e ? enforce_workdir(e) : ENFORCE_WORKDIR, AGENT_CONTEXT);
}

static int run_sandbox_gone(Run *run, Error *reterr) {
        return run_failed(run, RUN_FAILED, "sandbox_ended", reterr, "the sandbox has ended");
}

static void agent_run_on_uploaded(int error, const char *text, void *userdata) {
        Run *run = userdata;
        const Sandbox *sb = run_sandbox(run);

        run->upload = upload_free(run->upload);
        run_disarm(run);
        if (error == -ENOSPC || error == -EDQUOT || error == -EFBIG)
                run_fail(run, RUN_REFUSED, "disk", "%s: the files do not fit the disk limit", text);
        else if (error < 0)
                run_fail(run, RUN_FAILED, sb && sandbox_status_is_live(sb->status) ? "files_failed" : "sandbox_ended", "%s", text);
        else
                sequence_heard(&run->steps, NULL);
}

static int run_send_file(Run *run, Sandbox *sb, const char *path, const char *text, Error *reterr) {
        Error error = { 0 };
        int r = upload_start(sb, path, FILE_MODE, text, strlen(text), agent_run_on_uploaded, run, &run->upload, &error);

        if (r < 0)
                return run_failed(run, RUN_FAILED, r == -ESTALE ? "sandbox_ended" : "files_failed", reterr, "%s", error.text);
        run_arm(run, operation_timeout(run), "writing the files of the execution");
        return STEP_WAITS;
}

static int run_send_context(void *object, Error *reterr) {
        Run *run = object;
        Sandbox *sb = run_sandbox(run);
        char path[AGENT_PATH_MAX];

        if (!sb)
                return run_sandbox_gone(run, reterr);
        memcpy(run->attempt.sandbox_id, sb->id, sizeof(run->attempt.sandbox_id));
        agent_run_write_down(run);
        context_path(sb, path, sizeof(path));
        return run_send_file(run, sb, path, run->job.context ? run->job.context : "{}", reterr);
}

static int run_send_code(void *object, Error *reterr) {
        Run *run = object;
        const Job *j = &run->job;
        Sandbox *sb = run_sandbox(run);

        if (!sb)
                return run_sandbox_gone(run, reterr);
        return j->code ? run_send_file(run, sb, j->command.items[j->command.n - 1], j->code, reterr) : STEP_DONE;
}

static int run_unsend(void *object, Error *why) {
        Run *run = object;

        run_disarm(run);
        run->upload = upload_free(run->upload);
        return STEP_DONE;
}

/* The program. */

static int agent_run_on_later(sd_event_source *source, void *userdata) {
        Run *run = userdata;

        if (run->blame == BLAME_SANDBOX && !run->job.cancel)
                run_fail(run, RUN_FAILED, "sandbox_ended", "%s", run->job.message ? run->job.message : "the sandbox ended while the program ran");
        else
                sequence_heard(&run->steps, NULL);
        return 0;
}

/* The core calls this in the middle of its own work, and the sandbox may be gone afterwards. So the needed
 * values are copied now, and the rest is done in another turn of the loop. */
static void run_see_end(Run *run, const Execution *x) {
        int r;

        execution_unwatch(&run->watch);
        run->execution = NULL;
        run_disarm(run);
        result_take(run, x);
        r = sd_event_add_defer(run->agents->manager->event, &run->later, agent_run_on_later, run);
        if (r < 0)
                run_arm(run, USEC_PER_SEC, "its end"); /* no memory: counts as a failure of the sandbox */
}

static void agent_run_on_execution(Execution *x, void *userdata) {
        if (execution_ended(x))
                run_see_end(userdata, x);
}

static int run_follow(Run *run, Error *reterr) {
        usec_t limit = run->job.timeout_usec;
        int r;

        run->watch = (ExecutionWatch) { .changed = agent_run_on_execution, .userdata = run };
        r = execution_watch(run->execution, &run->watch);
        if (r < 0)
                return run_failed(run, RUN_FAILED, "start_failed", reterr, "the program cannot be watched: %s", strerror(-r));
        if (limit > 0) /* normally PID 1 enforces the limit */
                run_arm(run, limit + operation_timeout(run), "the program, which should have been ended by its time limit,");
        return STEP_WAITS;
}

static int push_env(Strv *env, const char *name, const char *value) {
        char *text;

        if (asprintf(&text, "%s=%s", name, value) < 0)
                return -ENOMEM;
        if (strv_push_take(env, text) < 0) {
                free(text);
                return -ENOMEM;
        }
        return 0;
}

static int agent_run_make_spec(const Run *run, Sandbox *sb, ExecutionSpec *ret) {
        const Job *j = &run->job;
        char attempt[16], context[AGENT_PATH_MAX];
        int r;

        context_path(sb, context, sizeof(context));
        (void) snprintf(attempt, sizeof(attempt), "%u", j->attempt);
        *ret = (ExecutionSpec) {
                .args = STRV_INIT(JOB_COMMAND_MAX),
                .env = STRV_INIT(ENV_MAX),
                .env_is_ours = true,
                .has_timeout = true,
                .timeout_usec = j->timeout_usec,
                .background = true,
                .tag = strdup(j->id),
        };
        r = strv_extend(&ret->args, &j->command);
        if (r >= 0)
                r = push_env(&ret->env, "COVE_CONTEXT", context);
        if (r >= 0)
                r = push_env(&ret->env, "COVE_TASK_ID", j->sandbox.task_id);
        if (r >= 0)
                r = push_env(&ret->env, "COVE_AGENT_TYPE", j->sandbox.agent_type);
        if (r >= 0)
                r = push_env(&ret->env, "COVE_ATTEMPT", attempt);
        if (r >= 0)
                r = push_env(&ret->env, "COVE_EXECUTION_ID", j->id);
        return r < 0 || !ret->tag ? -ENOMEM : 0;
}

static int run_execute(Run *run, Sandbox *sb, Error *reterr) {
        _cleanup_(execution_spec_done) ExecutionSpec spec = { 0 };
        Error error = { 0 };
        int r = agent_run_make_spec(run, sb, &spec);

        if (r >= 0) /* the time was checked at the request */
                r = sandbox_execution_time(sb, &principal_daemon, &(TimeAsked) { .usec = spec.timeout_usec }, &spec.timeout_usec, &error);
        if (r >= 0)
                r = execution_start(sb, &principal_daemon, &spec, &run->execution, &error);
        if (r == -E2BIG || r == -ENOEXEC || r == -ENOKEY)
                return run_failed(run, RUN_REFUSED, r == -ENOEXEC ? "language_not_allowed" : r == -ENOKEY ? "secret_missing" : "invalid_command", reterr, "%s",
                                error.text);
        if (r < 0)
                return run_failed(run, RUN_FAILED, "start_failed", reterr, "the program cannot be started: %s", error.text[0] ? error.text : strerror(-r));
        run->job.execution = run->execution->number;
        run->job.status = JOB_RUNNING;
        run->job.running_at = clock_wall_usec();
        agent_run_write_down(run);
        r = run_follow(run, reterr);
        if (r >= 0)
                agents_tell(run->agents, &run->job);
        return r;
}

/* The execution was started by an earlier daemon (rejoin.c). */
static int run_rejoin_program(Run *run, Error *reterr) {
        int r;

        run->job.execution = run->execution->number;
        run->job.status = JOB_RUNNING;
        if (execution_ended(run->execution)) {
                run_see_end(run, run->execution);
                return STEP_WAITS;
        }
        r = run_follow(run, reterr);
        if (r >= 0 && run->job.cancel)
                (void) execution_signal(run->execution, SIGKILL);
        return r;
}

static int run_program(void *object, Error *reterr) {
        Run *run = object;
        Sandbox *sb = run_sandbox(run);

        if (run->execution)
                return run_rejoin_program(run, reterr);
        return sb ? run_execute(run, sb, reterr) : run_sandbox_gone(run, reterr);
}

static int run_leave_program(void *object, Error *why) {
        Run *run = object;

        run_disarm(run);
        execution_unwatch(&run->watch);
        run->execution = NULL;
        return STEP_DONE;
}

/* Start and cancel. */

static const SequenceStep run_steps[] = {
        [RUN_SANDBOX] = { "making the sandbox",     run_ask,          run_unask         },
        [RUN_TURN]    = { "waiting for its turn",   run_take_turn,    run_give_turn     },
        [RUN_CONTEXT] = { "writing its context",    run_send_context, run_unsend        },
        [RUN_CODE]    = { "writing its code",       run_send_code,    run_unsend        },
        [RUN_PROGRAM] = { "running its program",    run_program,      run_leave_program },
};
static const Sequence run_sequence = SEQUENCE("agent execution", run_steps, run_ended);

void run_begin(Run *run, RunStep step) {
        Error error = { 0 };
        int r = sequence_start_at(&run->steps, &run_sequence, step, run, &error);

        if (r < 0)
                run_ended(run, &error);
}

static void count_wait(Run *run, usec_t since) {
        usec_t waited = clock_usec() - since;

        stats_waited(run->agents, waited);
        agents_tell_began(run->agents, &run->job, waited);
}

int run_start(Agents *a, const QueueEntry *e) {
        _cleanup_(job_done) Job j = { 0 };
        Run *run;
        int r = store_job_get(a->manager->store, e->id, &j);

        if (r == -ENOENT)
                return 0;
        run = r < 0 ? NULL : run_new(a, &j);
        if (!run) {
                log_error("agent execution %s: cannot be started, trying again: %s", e->id, strerror(r < 0 ? -r : ENOMEM));
                return queue_add(a->queue, e->id, j.sandbox.tenant, j.sandbox.profile, e->serial, e->priority, e->since,
                                clock_usec() + FULL_PAUSE);
        }
        run->job.status = JOB_PROVISIONING;
        run->job.attempt++;
        run->job.provisioning_at = clock_wall_usec();
        run->job.running_at = run->job.finished_at = run->job.execution = 0;
        run->job.sandbox_id[0] = '\0';
        job_forget_result(&run->job);
        run->attempt.number = run->job.attempt;
        run->attempt.started_at = run->job.provisioning_at;
        agent_run_write_down(run);
        count_wait(run, e->since);
        a->counts.attempts++;
        agents_tell(a, &run->job);
        run_begin(run, RUN_SANDBOX);
        return 1;
}

int run_cancel(Run *run, Error *reterr) {
        int r;

        if (sequence_is_under_way(&run->ending) || (sequence_step(&run->steps) == run_steps + RUN_PROGRAM && !run->execution))
                return error_set(reterr, -EALREADY, "the program has ended already, and its artifacts are being collected");
        run->job.cancel = true;
        r = run_store(run);
        if (r < 0) { /* a refused call changes nothing */
                run->job.cancel = false;
                return error_set(reterr, r, "cannot save it: %m");
        }
        if (run->execution) {
                r = execution_signal(run->execution, SIGKILL);
                if (r < 0)
                        run_fail(run, RUN_FAILED, "cancelled", "cancelled, and the sandbox could not be reached");
                else
                        run_arm(run, operation_timeout(run), "ending the program");
                return 1;
        }
        run_fail(run, RUN_FAILED, "cancelled", "cancelled before the program was started");
        return 0;
}
