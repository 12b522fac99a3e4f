/* agent.h: agent executions: a task in a sandbox of its own, from the queue to the clean-up.
 *
 *      queued → provisioning → running → completed | failed | dead (all attempts used up) | cancelled
 *         ↑___________|___________|      the sandbox's failure: retried after a pause of 2^i × agents.backoff
 *
 * An execution is durable: its row is in the store before the caller gets the answer. After a restart queued executions
 * are queued again, and running ones are rejoined, because their sandboxes and commands went on. A failure of the
 * sandbox is retried after growing pauses; a failure of the program is its result. Ended executions are in the store
 * only.
 * Knows the core through acquire.h, execution.h and fileop.h, and the rooms that carry results away. Must not know:
 * HTTP, SQL, what the metrics are. */
#pragma once

#include "agent/job.h"
#include "core/allowance.h"
#include "core/manager.h"
#include "json/json.h"

typedef struct Agents Agents;
typedef struct Deliveries Deliveries;
typedef struct Artifacts Artifacts;

/* Resumes the executions in the store as soon as the manager's recovery is over. deliveries NULL: webhooks are refused.
 * artifacts NULL: nothing is captured. */
int agents_new(Manager *m, Deliveries *deliveries, Artifacts *artifacts, Agents **ret, Error *reterr);
Agents *agents_free(Agents *a); /* before the manager; sandboxes and commands go on */

void agents_reload(Agents *a); /* the settings have changed: more may run at once than before */

/* A request for an execution. All members are borrowed. */
typedef struct AgentRequest {
        const char *task_id, *agent_type;
        const char *context;        /* JSON; NULL: {} */
        const Strv *command;        /* n == 0: none */
        const char *code, *language; /* language NULL: python */
        const Strv *env;
        const char *template_name;  /* NULL: the profile's */
        SandboxLimits limits;       /* unset ones (limits_unsaid()) are the profile's */
        TimeAsked time; /* of the program; unset: the limit of its type */
        bool has_retries;
        unsigned retries;           /* after the first attempt */
        int priority;
        const char *webhook, *idempotency_key;
        bool capture_files;
        const Strv *capture;
        bool keep_sandbox;
} AgentRequest;

/* Puts the execution into the store and the queue. -EINVAL: ret_field names the member of the request ("agentType"),
 * the error says more. -EPERM: a limit is beyond the profile's. -EDQUOT: the queue is full. -ENOSPC. -EEXIST: the
 * idempotency key was used for another request. ret_existing: the key was used before, and ret_id is that execution. */
int agents_submit(Agents *a, const Principal *who, const AgentRequest *q, char ret_id[static JOB_ID_LENGTH + 1], bool *ret_existing,
                const char **ret_field, Error *reterr);

/* -ENOENT: the principal sees no such execution. The caller frees with job_done(). */
int agents_find(Agents *a, const Principal *who, const char *id, Job *ret);

/* Completes the beginning of an id, as core/prefix.h does for sandboxes, among the executions that the principal sees.
 * -ENOENT: no id begins so, or the text is not "run_" with at least four digits of an id. -ENOTUNIQ: several ids begin
 * so; the error names some. */
int agents_complete_id(Agents *a, const Principal *who, const char *text, char ret[static JOB_ID_LENGTH + 1], Error *reterr);

typedef struct JobFilter {
        const char *tenant; /* NULL: all */
        unsigned statuses;  /* bits; 0: all */
        const char *agent_type, *task_id; /* NULL: all */
        uint64_t before;    /* serial; 0: from the newest */
        unsigned limit;
} JobFilter;

/* Newest first. The callee may take members out of the row; a negative return value stops. ret_next: if not 0, the
 * search stopped at this serial, and there may be more before it; 0: that was all. */
int agents_each(Agents *a, const JobFilter *filter, int (*each)(Job *job, void *userdata), void *userdata, uint64_t *ret_next);

/* -EALREADY: it has ended. 1: it is being killed, and watches report its end; 0: done. */
int agents_cancel(Agents *a, const Principal *who, const char *id, Error *reterr);
/* -ESTALE: it is not a dead letter. */
int agents_retry(Agents *a, const Principal *who, const char *id, Error *reterr);
/* Also deletes its artifacts. -EBUSY: it has not ended. */
int agents_delete(Agents *a, const Principal *who, const char *id, Error *reterr);

/* Called after every change of status, when it is in the store. */
typedef struct AgentWatch {
        void (*changed)(const char *id, JobStatus status, void *userdata);
        void *userdata;
        char id[JOB_ID_LENGTH + 1];
        struct AgentWatch *prev, *next;
        Agents *agents;
} AgentWatch;

void agents_watch(Agents *a, const char *id, AgentWatch *watch);
void agents_unwatch(AgentWatch *watch); /* does nothing on a zeroed one that never watched */

/* The execution as callers and their webhooks see it. brief: for lists, without output, context and attempts. */
json_t *agents_json(Agents *a, const Job *job, bool brief);
extern const Shape agent_summary_shape, agent_execution_shape; /* the shapes of that: brief, and in full */

#define AGENT_PRIORITIES (2 * JOB_PRIORITY_MAX + 1)

typedef struct AgentQueueStats {
        uint64_t depth;      /* queued, including those that pause before their next attempt */
        uint64_t delayed;    /* those that pause */
        uint64_t active;     /* provisioning and running */
        uint64_t running;
        uint64_t dead;       /* letters */
        usec_t oldest_usec;  /* the longest wait of a queued one since it could begin */
        usec_t wait_p50_usec, wait_p95_usec, wait_p99_usec; /* of those that began in the last 5 minutes */
        uint64_t n_waits;    /* samples of these quantiles */
        uint64_t submitted, attempts, retried, completed, failed, died, cancelled; /* since the start */
        uint64_t by_priority[AGENT_PRIORITIES]; /* queued; priority p is at p + JOB_PRIORITY_MAX */
} AgentQueueStats;

/* tenant NULL: of all tenants. Otherwise depth, active, running, dead, oldest_usec and by_priority are the tenant's
 * own, and the rest is 0. */
int agents_queue_stats(Agents *a, const char *tenant, AgentQueueStats *ret);

/* Cheap: for alerts, which read it at every evaluation. */
typedef struct AgentSignals {
        uint64_t depth, active, dead;
} AgentSignals;

void agents_signals(Agents *a, AgentSignals *ret);

/* Called when an event is in the store. The same rules as in core/observer.h; every function may be NULL. */
typedef struct AgentObserver {
        void (*queued)(const Job *job, void *userdata); /* also for its next attempt */
        void (*began)(const Job *job, usec_t waited, void *userdata); /* an attempt; waited: since it could begin */
        void (*ended)(const Job *job, void *userdata);
        void (*forgotten)(const Job *job, void *userdata);
        void *userdata;
        struct AgentObserver *next;
} AgentObserver;

void agents_observe(Agents *a, AgentObserver *o);

/* Called before a request's own limits apply: may lower those of its profile to what such executions have needed. */
typedef int (*AgentAdvice)(const char *agent_type, SandboxLimits *limits, void *userdata);
void agents_set_advice(Agents *a, AgentAdvice advice, void *userdata);
