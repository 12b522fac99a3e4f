/* agent.h: agent executions: a task, in a sandbox of its own, from the queue to the clean-up.
 *
 *      queued → provisioning → running → completed | failed | dead (all attempts used up) | cancelled
 *         ↑___________|___________|      the sandbox's failure: tried again after a pause of 2^i × agents.backoff
 *
 * Durable: a row before the answer; after a restart what was queued is queued, and what was running is rejoined (its sandbox and its
 * command have gone on). A failure of the sandbox is tried again with growing pauses; a failure of the program is its result.
 * What has ended is in the store only.
 * Knows the core through acquire.h, execution.h and fileop.h, and the rooms that carry results away. Must not know: HTTP, SQL,
 * what the metrics are. */
#pragma once

#include "agent/job.h"
#include "core/allowance.h"
#include "core/manager.h"
#include "json/json.h"

typedef struct Agents Agents;
typedef struct Deliveries Deliveries;
typedef struct Artifacts Artifacts;

/* Takes up what the store has, as soon as the manager's recovery is over. deliveries, artifacts: may be NULL (then webhooks are refused,
 * and nothing is captured). */
int agents_new(Manager *m, Deliveries *deliveries, Artifacts *artifacts, Agents **ret, Error *reterr);
Agents *agents_free(Agents *a); /* before the manager; everything goes on without us */

void agents_reload(Agents *a); /* the settings have changed: more may run at once than before */

/* What somebody asks for. Everything is the caller's. */
typedef struct AgentRequest {
        const char *task_id, *agent_type;
        const char *context;        /* JSON; NULL: {} */
        const Strv *command;        /* n == 0: none */
        const char *code, *language; /* language NULL: python */
        const Strv *env;
        const char *template_name;  /* NULL: the profile's */
        SandboxLimits limits;       /* what is not said (limits_unsaid()) is the profile's */
        TimeAsked time; /* of the program; not said: as long as its type may take */
        bool has_retries;
        unsigned retries;           /* after the first attempt */
        int priority;
        const char *webhook, *idempotency_key;
        bool capture_files;
        const Strv *capture;
        bool keep_sandbox;
} AgentRequest;

/* Puts it into the store and the queue. -EINVAL: ret_field names the member of the request ("agentType"), the error says more.
 * -EPERM: a limit beyond the profile's. -EDQUOT: the queue is full. -ENOSPC. -EEXIST: the idempotency key was used for something
 * else. ret_existing: the key is known, and here is what it stands for. */
int agents_submit(Agents *a, const Principal *who, const AgentRequest *q, char ret_id[static JOB_ID_LENGTH + 1], bool *ret_existing,
                const char **ret_field, Error *reterr);

/* -ENOENT: there is none that this one may see. The caller frees with job_done(). */
int agents_find(Agents *a, const Principal *who, const char *id, Job *ret);

/* The id of the one execution that this one may see whose id begins so, as core/prefix.h has it for sandboxes. -ENOENT: none does, or the text is no beginning of an
 * id, of which it has four digits or more. -ENOTUNIQ: several do; the error names some. */
int agents_complete_id(Agents *a, const Principal *who, const char *text, char ret[static JOB_ID_LENGTH + 1], Error *reterr);

typedef struct JobFilter {
        const char *tenant; /* NULL: all */
        unsigned statuses;  /* bits; 0: all */
        const char *agent_type, *task_id; /* NULL: all */
        uint64_t before;    /* serial; 0: from the newest */
        unsigned limit;
} JobFilter;

/* The newest first. The row is the callee's to take from; what it returns below zero ends it. ret_next: only so many have been looked
 * at, and there may be more before this serial; 0: that was all. */
int agents_each(Agents *a, const JobFilter *filter, int (*each)(Job *job, void *userdata), void *userdata, uint64_t *ret_next);

/* -EALREADY: it has ended. 1: asked for, its end is told later; 0: done. */
int agents_cancel(Agents *a, const Principal *who, const char *id, Error *reterr);
/* -ESTALE: it is no dead letter. */
int agents_retry(Agents *a, const Principal *who, const char *id, Error *reterr);
/* -EBUSY: it has not ended. With what was kept of it. */
int agents_delete(Agents *a, const Principal *who, const char *id, Error *reterr);

/* Told after every change of status, when it is in the store. */
typedef struct AgentWatch {
        void (*changed)(const char *id, JobStatus status, void *userdata);
        void *userdata;
        char id[JOB_ID_LENGTH + 1];
        struct AgentWatch *prev, *next;
        Agents *agents;
} AgentWatch;

void agents_watch(Agents *a, const char *id, AgentWatch *watch);
void agents_unwatch(AgentWatch *watch); /* also when it never watched */

/* As callers and their webhooks see it. brief: for lists, without output, context and attempts. */
json_t *agents_json(Agents *a, const Job *job, bool brief);
extern const Shape agent_summary_shape, agent_execution_shape; /* what that is */

#define AGENT_PRIORITIES (2 * JOB_PRIORITY_MAX + 1)

typedef struct AgentQueueStats {
        uint64_t depth;      /* queued, those that wait for their next attempt included */
        uint64_t delayed;    /* of them: those */
        uint64_t active;     /* provisioning and running */
        uint64_t running;
        uint64_t dead;       /* letters */
        usec_t oldest_usec;  /* that the longest waiting one has waited, since it could begin */
        usec_t wait_p50_usec, wait_p95_usec, wait_p99_usec; /* of those that began in the last 5 minutes */
        uint64_t n_waits;    /* that these are taken from */
        uint64_t submitted, attempts, retried, completed, failed, died, cancelled; /* since the start */
        uint64_t by_priority[AGENT_PRIORITIES]; /* queued; priority p is at p + JOB_PRIORITY_MAX */
} AgentQueueStats;

/* tenant NULL: everybody's. Of a tenant: depth, active, dead and by_priority are its own, the rest is 0. */
int agents_queue_stats(Agents *a, const char *tenant, AgentQueueStats *ret);

/* Cheap: what alerts look at all the time. */
typedef struct AgentSignals {
        uint64_t depth, active, dead;
} AgentSignals;

void agents_signals(Agents *a, AgentSignals *ret);

/* Told what happens, when it is in the store. The same rules as in core/observer.h; every function may be NULL. */
typedef struct AgentObserver {
        void (*queued)(const Job *job, void *userdata); /* also for its next attempt */
        void (*began)(const Job *job, usec_t waited, void *userdata); /* an attempt; waited: since it could have begun */
        void (*ended)(const Job *job, void *userdata);
        void (*forgotten)(const Job *job, void *userdata);
        void *userdata;
        struct AgentObserver *next;
} AgentObserver;

void agents_observe(Agents *a, AgentObserver *o);

/* Asked before a request's own limits count: may make those of its profile smaller, by what such executions have needed. */
typedef int (*AgentAdvice)(const char *agent_type, SandboxLimits *limits, void *userdata);
void agents_set_advice(Agents *a, AgentAdvice advice, void *userdata);
