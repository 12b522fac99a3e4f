/* run.c: one attempt: a sandbox, its files, the program. What comes of it is run-end.c's. */

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
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                run->journals[s] = -EBADF;
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

void run_unhold(Run *run) {
        if (run->step == RUN_HELD)
                DL_DELETE2(run->agents->held, run, held_prev, held_next);
}

/* The sandbox and all that is in it are not ours to take away here. */
Run *run_free(Run *run) {
        if (!run)
                return NULL;
        HASH_DEL(run->agents->runs, run);
        run_unhold(run);
        run_leave_slot(run);
        run_open_lane(run);
        if (run->acquisition)
                acquisition_cancel(run->acquisition);
        (void) upload_free(run->upload);
        (void) collect_free(run->collection);
        execution_unwatch(&run->watch);
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                (void) fd_close(run->journals[s]);
        mask_unref(run->mask);
        (void) sandbox_unref(run->sandbox);
        sd_event_source_disable_unref(run->alarm);
        sd_event_source_disable_unref(run->later);
        job_attempt_done(&run->attempt);
        job_done(&run->job);
        free(run);
        return NULL;
}

void run_stop(Run *run) {
        Sandbox *sb = run->acquisition ? run_named_sandbox(run) : NULL;

        run->alarm = sd_event_source_disable_unref(run->alarm);
        if (run->acquisition)
                acquisition_cancel(run->acquisition);
        run->acquisition = NULL;
        if (sb) /* it is being made for us; one that failed is on its way out already */
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
        run->upload = upload_free(run->upload);
        execution_unwatch(&run->watch);
        run->execution = NULL;
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
        Principal who = { .scope = SCOPE_USE, .tenant = tenant && *tenant ? tenant : NULL };
        char name[SANDBOX_NAME_MAX + 1];

        run_name(run, name, sizeof(name));
        return manager_find(run->agents->manager, &who, name);
}

/* Every operation on a sandbox has its time; one that takes longer has lost its sandbox. */

static int on_alarm(sd_event_source *source, uint64_t usec, void *userdata) {
        Run *run = userdata;
        const Sandbox *sb = run->parked ? run_named_sandbox(run) : NULL;
        usec_t patience = run->agents->manager->settings->agents.ready_timeout_usec;

        run->alarm = sd_event_source_disable_unref(run->alarm);
        if (run->step == RUN_WRITING)
                run_commit(run);
        else if (run->step == RUN_COLLECTING) {
                run->collection = collect_free(run->collection);
                free(run->job.capture_error);
                run->job.capture_error = strdup("keeping what it has left took too long");
                run_collected(run);
        } else if (run->parked && (!sb || sb->status != SANDBOX_INITIALIZING || sandbox_age(sb) < patience))
                run_arm(run, run->operation_usec, run->operation); /* it stands in the queue, which is no operation */
        else
                run_fail(run, "operation_timeout", "%s took longer than %.3g s", run->operation, (double) run->operation_usec / 1e6);
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

/* What is not written now, is found again by the names of sandbox and execution. */
static void agent_run_write_down(Run *run) {
        Store *store = run->agents->manager->store;
        int r;

        (void) store_begin(store);
        (void) store_job_update(store, &run->job);
        (void) store_attempt_put(store, &run->attempt);
        r = store_commit(store);
        if (r < 0)
                log_warning("agent execution %s: cannot write down that it is %s, going on: %s", run->job.id,
                                job_status_name(run->job.status), strerror(-r));
}

/* The program. */

static int agent_run_on_later(sd_event_source *source, void *userdata) {
        run_conclude(userdata);
        return 0;
}

/* We are told in the middle of the core's own work, and the sandbox may be gone after it: what is needed is taken now, the rest follows
 * in a turn of its own. */
void run_see_end(Run *run, const Execution *x) {
        int r;

        execution_unwatch(&run->watch);
        run->execution = NULL;
        run_disarm(run);
        result_take(run, x);
        r = sd_event_add_defer(run->agents->manager->event, &run->later, agent_run_on_later, run);
        if (r < 0)
                run_arm(run, USEC_PER_SEC, "its end"); /* no memory: as a failure of the sandbox */
}

static void agent_run_on_execution(Execution *x, void *userdata) {
        if (execution_ended(x))
                run_see_end(userdata, x);
}

int run_follow(Run *run, Execution *x) {
        usec_t limit = run->job.timeout_usec;
        int r;

        run->step = RUN_EXECUTING;
        run->execution = x;
        run->watch = (ExecutionWatch) { .changed = agent_run_on_execution, .userdata = run };
        r = execution_watch(x, &run->watch);
        if (r >= 0 && limit > 0) /* PID 1 keeps the limit; this is in case that it does not */
                run_arm(run, limit + operation_timeout(run), "the program, which should have been ended by its time limit,");
        return r;
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

static void context_path(Sandbox *sb, char *ret, size_t size) {
        const Enforce *e = sandbox_enforce(sb);

        (void) snprintf(ret, size, "%s/%s", e ? enforce_workdir(e) : ENFORCE_WORKDIR, AGENT_CONTEXT);
}

static int agent_run_make_spec(const Run *run, Sandbox *sb, ExecutionSpec *ret) {
        const Job *j = &run->job;
        char attempt[16], context[AGENT_PATH_MAX];
        int r = 0;

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
        for (size_t i = 0; i < j->command.n && r >= 0; i++)
                r = strv_push(&ret->args, j->command.items[i]);
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

static void execute(Run *run, Sandbox *sb) {
        _cleanup_(execution_spec_done) ExecutionSpec spec = { 0 };
        Error error = { 0 };
        Execution *x;
        int r = agent_run_make_spec(run, sb, &spec);

        if (r >= 0) /* what the request may have was settled when it came */
                r = sandbox_execution_time(sb, &(Principal) { .scope = SCOPE_ADMIN }, &(TimeAsked) { .usec = spec.timeout_usec }, &spec.timeout_usec, &error);
        if (r >= 0)
                r = execution_start(sb, &spec, &x, &error);
        if (r == -E2BIG || r == -ENOEXEC || r == -ENOKEY) {
                run_refuse(run, r == -ENOEXEC ? "language_not_allowed" : r == -ENOKEY ? "secret_missing" : "invalid_command", "%s", error.text);
                return;
        }
        if (r < 0) {
                run_fail(run, "start_failed", "the program cannot be started: %s", error.text[0] ? error.text : strerror(-r));
                return;
        }
        run->job.execution = x->number;
        run->job.status = JOB_RUNNING;
        run->job.running_at = clock_wall_usec();
        agent_run_write_down(run);
        r = run_follow(run, x);
        if (r < 0) {
                run_fail(run, "start_failed", "the program cannot be watched: %s", strerror(-r));
                return;
        }
        agents_tell(run->agents, &run->job);
}

/* Its files. */

static void agent_run_next_file(Run *run, Sandbox *sb);

static void agent_run_on_uploaded(int error, const char *text, void *userdata) {
        Run *run = userdata;
        Sandbox *sb = run_sandbox(run);

        run->upload = upload_free(run->upload);
        run_disarm(run);
        if (error == -ENOSPC || error == -EDQUOT || error == -EFBIG)
                run_refuse(run, "disk", "%s: what was sent does not fit the disk limit", text);
        else if (error < 0 || !sb)
                run_fail(run, sb && sandbox_status_is_live(sb->status) ? "files_failed" : "sandbox_ended", "%s",
                                error < 0 ? text : "the sandbox went away");
        else {
                run->step++;
                agent_run_next_file(run, sb);
        }
}

static void agent_run_send_file(Run *run, Sandbox *sb, const char *path, const char *text) {
        Error error = { 0 };
        int r = upload_start(sb, path, FILE_MODE, text, strlen(text), agent_run_on_uploaded, run, &run->upload, &error);

        if (r < 0)
                run_fail(run, r == -ESTALE ? "sandbox_ended" : "files_failed", "%s", error.text);
        else
                run_arm(run, operation_timeout(run), "writing the files of the execution");
}

static void agent_run_next_file(Run *run, Sandbox *sb) {
        const Job *j = &run->job;
        char context[AGENT_PATH_MAX];

        context_path(sb, context, sizeof(context));
        if (run->step == RUN_CONTEXT)
                agent_run_send_file(run, sb, context, j->context ? j->context : "{}");
        else if (run->step == RUN_CODE && j->code)
                agent_run_send_file(run, sb, j->command.items[j->command.n - 1], j->code);
        else
                execute(run, sb);
}

void run_prepare(Run *run, Sandbox *sb) {
        run_set_sandbox(run, sb);
        memcpy(run->attempt.sandbox_id, sb->id, sizeof(run->attempt.sandbox_id));
        agent_run_write_down(run);
        run->step = RUN_CONTEXT;
        agent_run_next_file(run, sb);
}

/* Start and cancel. */

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
        run_ask(run, /* wait_usec= */ 0);
        return 1;
}

int run_cancel(Run *run, Error *reterr) {
        int r;

        if (run->step >= RUN_COLLECTING || (run->step == RUN_EXECUTING && !run->execution))
                return error_set(reterr, -EALREADY, "the program has ended already, and what it has left is being kept");
        run->job.cancel = true;
        agent_run_write_down(run);
        if (run->execution) {
                r = execution_signal(run->execution, SIGKILL);
                if (r < 0)
                        run_fail(run, "cancelled", "cancelled, and the sandbox could not be reached");
                else
                        run_arm(run, operation_timeout(run), "ending the program");
                return 1;
        }
        run_fail(run, "cancelled", "cancelled before the program was started");
        return 0;
}
