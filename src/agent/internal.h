/* internal.h: what the files of this room share among themselves. Nobody else includes it.
 *
 *      agents.c     the room: its start, the pump that begins runs, who watches, what is old
 *      ask.c        what can be asked of it: to submit, to look, to cancel, to try again
 *      request.c    what was asked for becomes a Job, or is refused
 *      run.c        one attempt: a sandbox, its files, the program
 *      run-sandbox.c how an attempt comes to its sandbox
 *      run-end.c    what follows from each way in which it can end
 *      rejoin.c     attempts that were under way when the daemon ended
 *      result.c     what the program has left: its end, its output, its usage
 *      collect.c    artifacts: logs, reports, captured files
 *      webhook.c    telling others
 *      json.c       as callers see it
 *      stats.c      counts and waits */
#pragma once

#include "agent/agent.h"
#include "agent/queue.h"
#include "agent/upload.h"
#include "base/sequence.h"
#include "config/config.h"
#include "core/acquire.h"

#define AGENT_WAITS 1024 /* that quantiles are taken from */

#define AGENT_DIRECTORY ".cove" /* in /workspace, or where its policy lets it write (enforce_workdir()) */
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
        Run *held;       /* have their sandbox, and wait for their turn */
        unsigned n_slots; /* runs that count for agents.concurrency */
        bool up;         /* what the store has is taken up */
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

/* What follows when one of them fails. */
typedef enum RunVerdict {
        RUN_FAILED,   /* the sandbox's failure: another attempt, or a dead letter */
        RUN_REFUSED,  /* it can never be done */
        RUN_PUT_BACK, /* no attempt was made */
} RunVerdict;

/* Whose doing an end was. */
typedef enum ResultBlame {
        BLAME_NOBODY,  /* it ended with 0 */
        BLAME_PROGRAM,
        BLAME_SANDBOX,
        BLAME_CALLER, /* somebody killed it */
} ResultBlame;

struct Run {
        Agents *agents;
        Job job;
        JobAttempt attempt;
        SequenceRun steps;   /* until its end is known, */
        SequenceRun ending;  /* and from there on */
        RunVerdict verdict;  /* on a step that failed */
        const char *failure; /* its word for callers */
        usec_t pause_usec;   /* before it is put back */
        bool slot;   /* counts for agents.concurrency */
        bool held;   /* has its sandbox, and waits for its turn */
        bool parked; /* its lane is closed until it has a sandbox */
        bool keeps;    /* what it has left is kept, before its end is written down */
        JobStatus end; /* what its status will be, when all is written; JOB_QUEUED: another attempt */
        Sandbox *sandbox; /* NULL: none yet */
        Acquisition *acquisition;
        AgentUpload *upload;
        Execution *execution; /* watched; NULL: none, or its end has been seen */
        int journals[_STREAM_MAX]; /* of the program that has ended; -EBADF: none */
        struct Mask *mask;         /* what must not be shown of them */
        ExecutionWatch watch;
        Collection *collection;
        sd_event_source *alarm, *later;
        const char *operation; /* what the alarm is about */
        usec_t operation_usec;
        ResultBlame blame;
        Run *held_prev, *held_next;
        UT_hash_handle hh;
};

/* agents.c */
void agents_pump(Agents *a); /* soon */
void agents_take_up(Agents *a); /* what the store has */
bool agents_have_room(const Agents *a);
void agents_tell(Agents *a, const Job *job);
void agents_tell_forgotten(Agents *a, const Job *job);
void agents_tell_began(Agents *a, const Job *job, usec_t waited);
void agents_enqueue(Agents *a, const Job *job);
Run *agents_run(Agents *a, const char *id); /* NULL: it is not under way */

/* request.c */
int request_make_job(Agents *a, const Principal *who, const AgentRequest *q, Job *ret, const char **ret_field, Error *reterr);

/* run.c */
Run *run_new(Agents *a, Job *job); /* takes the job */
Run *run_free(Run *run);
int run_start(Agents *a, const QueueEntry *e);
void run_begin(Run *run, RunStep step); /* from there on; the run may be gone afterwards */
int run_cancel(Run *run, Error *reterr); /* as agents_cancel() */
int run_store(Run *run); /* the job and the attempt, at once */
void run_arm(Run *run, usec_t usec, const char *operation); /* it may take so long */
void run_disarm(Run *run);
void run_leave_slot(Run *run);
void run_open_lane(Run *run);
void run_leave_held(Run *run);
void run_set_sandbox(Run *run, Sandbox *sb);
Sandbox *run_sandbox(const Run *run); /* NULL: gone */
Sandbox *run_named_sandbox(const Run *run); /* the same, by its name */
void run_name(const Run *run, char *ret, size_t size); /* of its sandbox */

/* run-sandbox.c: the first two steps, and their undos */
int run_ask(void *object, Error *reterr);
int run_unask(void *object, Error *why);
int run_take_turn(void *object, Error *reterr);
int run_give_turn(void *object, Error *why);
void run_go_on(Run *run); /* a held one has its turn */

/* run-end.c */
/* A step fails: from within it, and from a callback or when none is under way. After the latter the run may be gone. */
int run_failed(Run *run, RunVerdict verdict, const char *word, Error *reterr, const char *format, ...) _printf_(5, 6);
void run_fail(Run *run, RunVerdict verdict, const char *word, const char *format, ...) _printf_(4, 5);
void run_ended(void *object, const Error *error); /* of the steps: frees the run, now or when its end is written down */
void run_collected(Run *run);
void run_end_alarm(Run *run); /* a step of the ending takes too long */
usec_t run_pause(const AgentsConfig *c, unsigned failures); /* before the next attempt, after so many that failed */

/* rejoin.c */
int run_rejoin(Agents *a, const char *id);

/* strays.c: after all that goes on has been rejoined */
void agents_end_strays(Agents *a);

/* result.c */
ResultBlame result_blame(const Execution *x);
void result_take(Run *run, const Execution *x); /* everything that is gone when the sandbox is */
void result_usage(const Sandbox *sb, const Execution *x, const SandboxUsage *u, JobUsage *ret);

/* collect.c: calls run_collected() when all that shall be kept is kept; 0: there is nothing to wait for. */
int collect_start(Run *run);
Collection *collect_free(Collection *c);
void collect_forget(Agents *a, const char *id); /* what was kept of it */

/* json.c: what is kept beside the execution */
json_t *agents_usage_json(Agents *a, const Job *j);
json_t *agents_error_json(Agents *a, const Job *j, const JobAttempt *last);

/* webhook.c */
void webhook_send(Agents *a, const char *id); /* of an ended one whose row says pending */
void webhook_disown(Agents *a, const char *id); /* of one that is tried again */
void webhooks_resume(Agents *a);
void webhooks_free(Agents *a);
int webhook_check(Agents *a, const char *url, Error *reterr);

/* stats.c */
void stats_waited(Agents *a, usec_t waited);
