/* internal.h: shared by the files of this room, which alone include it.
 *
 *      agents.c     the room: start, the pump that begins runs, watches, expiry
 *      ask.c        submit, find, cancel, retry, delete
 *      request.c    makes a Job of a request, or refuses it
 *      run.c        one attempt: a sandbox, its files, the program
 *      run-sandbox.c how an attempt gets its sandbox
 *      run-end.c    the consequences of each way in which an attempt can end
 *      rejoin.c     attempts that were under way when the daemon ended
 *      strays.c     sandboxes of attempts that are over
 *      result.c     the program's end, output and usage
 *      collect.c    artifacts: logs, reports, captured files
 *      webhook.c    reports ends to callers' webhooks
 *      json.c       executions as callers see them
 *      stats.c      counts and waits */
#pragma once

#include "agent/agent.h"
#include "agent/queue.h"
#include "agent/upload.h"
#include "base/sequence.h"
#include "config/config.h"
#include "core/acquire.h"
#include "core/output.h"

#define AGENT_WAITS 1024 /* samples that quantiles are taken from */

#define AGENT_DIRECTORY ".cove" /* in /workspace, or where the sandbox's policy allows writing (enforce_workdir()) */
#define AGENT_CONTEXT   AGENT_DIRECTORY "/context.json"
#define AGENT_PATH_MAX  (RULES_PATHS_BYTES + 64)

typedef struct Run Run;
typedef struct Collection Collection;

typedef struct AgentWait {
        usec_t at, waited;
} AgentWait;

struct Agents {
        Manager *manager;
        Deliveries *deliveries;
        Artifacts *artifacts;
        Queue *queue;
        Run *runs;       /* by id: provisioning and running */
        Run *held;       /* runs that have their sandbox and wait for their turn */
        unsigned n_slots; /* runs that count for agents.concurrency */
        bool up;         /* the executions in the store were resumed */
        AgentWatch *watches;
        AgentObserver *observers;
        AgentAdvice advice;
        void *advice_data;
        struct Telling *tellings; /* webhooks under way */
        sd_event_source *start, *pump, *wake, *expiry, *webhook_again;
        AgentWait waits[AGENT_WAITS];
        size_t n_waits; /* ever */
        uint64_t n_dead;
        AgentQueueStats counts; /* since the start */
};

/* The steps of an attempt, in their order (run.c). */
typedef enum RunStep {
        RUN_SANDBOX,
        RUN_TURN,
        RUN_CONTEXT,
        RUN_CODE,
        RUN_PROGRAM,
        _RUN_STEP_MAX,
} RunStep;

/* The consequence of a failed step. */
typedef enum RunVerdict {
        RUN_FAILED,   /* the sandbox's failure: another attempt, or a dead letter */
        RUN_REFUSED,  /* no attempt can succeed: the execution fails */
        RUN_PUT_BACK, /* back to the queue; the attempt does not count */
} RunVerdict;

/* The cause of a program's end. */
typedef enum ResultBlame {
        BLAME_NOBODY,  /* it ended with 0 */
        BLAME_PROGRAM,
        BLAME_SANDBOX,
        BLAME_CALLER, /* it was cancelled */
} ResultBlame;

struct Run {
        Agents *agents;
        Job job;
        JobAttempt attempt;
        SequenceRun steps;   /* until its end is known */
        SequenceRun ending;  /* from then on */
        RunVerdict verdict;  /* on a step that failed */
        const char *failure; /* the error code of that for callers */
        usec_t pause_usec;   /* of one that is put back, before its next attempt */
        bool slot;   /* counts for agents.concurrency */
        bool held;   /* has its sandbox, and waits for its turn */
        bool parked; /* waits for a sandbox, and its lane is closed until it has one */
        bool keeps;    /* artifacts are collected before its end is written */
        JobStatus end; /* its status once all is written; JOB_QUEUED: another attempt */
        Sandbox *sandbox; /* NULL: none yet */
        Acquisition *acquisition;
        AgentUpload *upload;
        Execution *execution; /* watched; NULL: none, or its end has been seen */
        OutputReader *outputs[_STREAM_MAX]; /* of the program that has ended; NULL: none */
        struct Mask *mask;         /* hides secrets in them */
        ExecutionWatch watch;
        Collection *collection;
        sd_event_source *alarm, *later;
        const char *operation; /* that the alarm limits */
        usec_t operation_usec;
        ResultBlame blame;
        Run *held_prev, *held_next;
        UT_hash_handle hh;
};

/* agents.c */
void agents_pump(Agents *a); /* in a later turn of the loop */
void agents_take_up(Agents *a); /* resumes the executions in the store */
bool agents_have_room(const Agents *a);
void agents_tell(Agents *a, const Job *job);
void agents_tell_forgotten(Agents *a, const Job *job);
void agents_tell_began(Agents *a, const Job *job, usec_t waited);
void agents_enqueue(Agents *a, const Job *job);
Run *agents_run(Agents *a, const char *id); /* NULL: none is under way */

/* request.c */
int request_make_job(Agents *a, const Principal *who, const AgentRequest *q, Job *ret, const char **ret_field, Error *reterr);

/* run.c */
Run *run_new(Agents *a, Job *job); /* takes the job */
Run *run_free(Run *run);
int run_start(Agents *a, const QueueEntry *e);
void run_begin(Run *run, RunStep step); /* starts with this step; the run may be freed afterwards */
int run_cancel(Run *run, Error *reterr); /* as agents_cancel() */
int run_store(Run *run); /* the job and the attempt, in one transaction */
void run_arm(Run *run, usec_t usec, const char *operation); /* limits the time of an operation; 0: no limit */
void run_disarm(Run *run);
void run_leave_slot(Run *run);
void run_open_lane(Run *run);
void run_leave_held(Run *run);
void run_set_sandbox(Run *run, Sandbox *sb);
Sandbox *run_sandbox(const Run *run); /* NULL: none, or gone */
Sandbox *run_named_sandbox(const Run *run); /* looked up by name; NULL: none */
void run_name(const Run *run, char *ret, size_t size); /* the name of its sandbox */

/* run-sandbox.c: the first two steps, and their undos */
int run_ask(void *object, Error *reterr);
int run_unask(void *object, Error *why);
int run_take_turn(void *object, Error *reterr);
int run_give_turn(void *object, Error *why);
void run_go_on(Run *run); /* gives a held run its turn */

/* run-end.c */
/* A step fails. run_failed() is for the step's own function, run_fail() for callbacks and when no step is under way.
 * run_fail() may free the run. */
int run_failed(Run *run, RunVerdict verdict, const char *word, Error *reterr, const char *format, ...) _printf_(5, 6);
void run_fail(Run *run, RunVerdict verdict, const char *word, const char *format, ...) _printf_(4, 5);
void run_ended(void *object, const Error *error); /* end of the steps; frees the run, now or when its end is written */
void run_collected(Run *run);
void run_end_alarm(Run *run); /* a step of the ending takes too long */
usec_t run_pause(const AgentsConfig *c, unsigned failures); /* before the next attempt, after so many failed ones */

/* rejoin.c */
int run_rejoin(Agents *a, const char *id);

/* strays.c: called when all running attempts were rejoined */
void agents_end_strays(Agents *a);

/* result.c */
ResultBlame result_blame(const Execution *x);
void result_take(Run *run, const Execution *x); /* everything that is lost with the sandbox */
void result_usage(const Sandbox *sb, const Execution *x, const SandboxUsage *u, JobUsage *ret);

/* collect.c: calls run_collected() when all artifacts are kept; 0: there is nothing to wait for. */
int collect_start(Run *run);
Collection *collect_free(Collection *c);
void collect_forget(Agents *a, const char *id); /* deletes its artifacts */

/* json.c: the usage and error reports among the artifacts */
json_t *agents_usage_json(Agents *a, const Job *j);
json_t *agents_error_json(Agents *a, const Job *j, const JobAttempt *last);

/* webhook.c */
void webhook_send(Agents *a, const char *id); /* if the execution's row says pending */
void webhook_disown(Agents *a, const char *id); /* the execution is retried: the outcome of its delivery is ignored */
void webhooks_resume(Agents *a);
void webhooks_free(Agents *a);
int webhook_check(Agents *a, const char *url, Error *reterr);

/* stats.c */
void stats_waited(Agents *a, usec_t waited);
