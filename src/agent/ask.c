/* ask.c: requests to the room: submit, find, list, cancel, retry, delete. */

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agent/internal.h"
#include "config/config.h"
#include "core/secrets.h"
#include "agent/rows.h"

#define CANDIDATES_MAX 5 /* matches of an abbreviated id that are listed; no more are searched for */

/* A request that comes before the start has run triggers the start. */
static int check_up(Agents *a, Error *reterr) {
        if (!a->up && !a->manager->recovering)
                agents_take_up(a);
        return a->up ? 0 : error_set(reterr, -EAGAIN, "the daemon has just started and looks for its sandboxes");
}

/* Submitting. */

static bool agent_ask_is_text(const char *a, const char *b) {
        return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A repeated request is for the same work. Its timeout and its webhook may differ. */
static bool agent_ask_is_same(const Job *known, const AgentRequest *q) {
        if (!agent_ask_is_text(known->sandbox.task_id, q->task_id) || strcasecmp(known->sandbox.profile, q->agent_type) != 0 ||
                        !agent_ask_is_text(known->code, q->code) || !agent_ask_is_text(known->context, q->context ? q->context : "{}"))
                return false;
        if (q->code || q->command->n == 0)
                return true; /* the command was not given by the caller */
        if (known->command.n != q->command->n)
                return false;
        for (size_t i = 0; i < q->command->n; i++)
                if (strcmp(known->command.items[i], q->command->items[i]) != 0)
                        return false;
        return true;
}

static int find_by_key(Agents *a, const Principal *who, const AgentRequest *q, char ret_id[static JOB_ID_LENGTH + 1], Error *reterr) {
        _cleanup_(job_done) Job known = { 0 };
        int r = store_job_get_by_key(a->manager->store, who->tenant, q->idempotency_key, &known);

        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return error_set(reterr, r, "cannot read the store: %m");
        if (!agent_ask_is_same(&known, q))
                return error_set(reterr, -EEXIST, "Idempotency-Key: was used for another request: task '%s', execution %s",
                                known.sandbox.task_id, known.id);
        memcpy(ret_id, known.id, JOB_ID_LENGTH + 1);
        return 1;
}

/* A tenant may fill half of the queue, so that others always find a place. */
static int check_room(const Agents *a, const char *tenant, Error *reterr) {
        unsigned most = a->manager->settings->agents.queue_max;

        if (queue_size(a->queue) >= most)
                return error_set(reterr, -EDQUOT, "the queue of agent executions is full: %u wait (agents.maxQueued)", most);
        if (tenant && queue_size_of(a->queue, tenant) >= MAX_OF(most / 2, 1U))
                return error_set(reterr, -EDQUOT, "tenant '%s' has half of the queue of agent executions already: %u wait (agents.maxQueued)",
                                tenant, MAX_OF(most / 2, 1U));
        return 0;
}

int agents_submit(Agents *a, const Principal *who, const AgentRequest *q, char ret_id[static JOB_ID_LENGTH + 1], bool *ret_existing,
                const char **ret_field, Error *reterr) {
        _cleanup_(job_done) Job j = { 0 };
        int r;

        *ret_existing = false;
        *ret_field = NULL;
        r = check_up(a, reterr);
        if (r < 0)
                return r;
        if (q->idempotency_key) {
                r = find_by_key(a, who, q, ret_id, reterr);
                *ret_existing = r > 0;
                if (r != 0)
                        return r;
        }
        r = request_make_job(a, who, q, &j, ret_field, reterr);
        if (r < 0)
                return r;
        r = secrets_check(a->manager, who, j.sandbox.tenant, &j.sandbox.env, reterr);
        if (r < 0)
                return r;
        r = check_room(a, who->tenant, reterr);
        if (r < 0)
                return r;
        r = manager_check_space(a->manager, reterr);
        if (r < 0)
                return r;
        r = store_job_insert(a->manager->store, &j);
        if (r < 0)
                return error_set(reterr, r, "cannot save the execution: %m");
        a->counts.submitted++;
        memcpy(ret_id, j.id, sizeof(j.id));
        agents_enqueue(a, &j);
        return 0;
}

/* Looking. */

static bool agent_ask_may_see(const Principal *who, const Job *j) {
        return principal_sees(who, j->sandbox.tenant);
}

int agents_find(Agents *a, const Principal *who, const char *id, Job *ret) {
        _cleanup_(job_done) Job j = { 0 };
        int r = strlen(id) == JOB_ID_LENGTH ? store_job_get(a->manager->store, id, &j) : -ENOENT;

        if (r < 0)
                return r;
        if (!agent_ask_may_see(who, &j))
                return -ENOENT;
        *ret = j;
        memset(&j, 0, sizeof(j));
        return 0;
}

typedef struct AgentCandidates {
        char first[JOB_ID_LENGTH + 1], told[ERROR_TEXT_MAX / 2];
        size_t n;
} AgentCandidates;

static int agent_ask_add_candidate(Job *j, void *userdata) {
        AgentCandidates *c = userdata;
        size_t used = strlen(c->told);

        if (c->n++ == 0)
                memcpy(c->first, j->id, sizeof(c->first));
        (void) snprintf(c->told + used, sizeof(c->told) - used, "%s%s", used > 0 ? ", " : "", j->id);
        return 0;
}

int agents_complete_id(Agents *a, const Principal *who, const char *text, char ret[static JOB_ID_LENGTH + 1], Error *reterr) {
        size_t n = strlen(text), kind = strlen("run_");
        AgentCandidates c = { 0 };
        int r;

        if (n < kind + PREFIX_MIN || n >= JOB_ID_LENGTH || strncmp(text, "run_", kind) != 0 || strspn(text + kind, "0123456789abcdef") != n - kind)
                return -ENOENT;
        r = store_job_each_prefix(a->manager->store, text, who->tenant, CANDIDATES_MAX, agent_ask_add_candidate, &c);
        if (r < 0)
                return error_set(reterr, r, "cannot read the store: %m");
        if (c.n == 0)
                return -ENOENT;
        if (c.n > 1)
                return error_set(reterr, -ENOTUNIQ, "'%s' is ambiguous: the ids of several agent executions begin so: %s", text, c.told);
        memcpy(ret, c.first, JOB_ID_LENGTH + 1);
        return 0;
}

int agents_each(Agents *a, const JobFilter *filter, int (*each)(Job *job, void *userdata), void *userdata, uint64_t *ret_next) {
        return store_job_each(a->manager->store, filter, each, userdata, ret_next);
}

/* Changing. */

static int find_or_tell(Agents *a, const Principal *who, const char *id, Job *ret, Error *reterr) {
        int r = agents_find(a, who, id, ret);

        if (r == -ENOENT)
                return error_set(reterr, r, "there is no agent execution '%.60s'", id);
        return r < 0 ? error_set(reterr, r, "cannot read the store: %m") : 0;
}

static int agent_ask_write_down(Agents *a, const Job *j, Error *reterr) {
        int r = store_job_update(a->manager->store, j);

        return r < 0 ? error_set(reterr, r, "cannot save it: %m") : 0;
}

int agents_cancel(Agents *a, const Principal *who, const char *id, Error *reterr) {
        _cleanup_(job_done) Job j = { 0 };
        Run *run = agents_run(a, id);
        int r = check_up(a, reterr);

        if (r >= 0)
                r = find_or_tell(a, who, id, &j, reterr);
        if (r < 0)
                return r;
        if (j.status == JOB_CANCELLED)
                return 0;
        if (job_status_is_ended(j.status))
                return error_set(reterr, -EALREADY, "the execution has ended already (%s)", job_status_name(j.status));
        if (run)
                return run_cancel(run, reterr);
        j.status = JOB_CANCELLED;
        j.ended_at = clock_wall_usec();
        j.webhook_status = j.webhook ? WEBHOOK_PENDING : WEBHOOK_NONE;
        r = agent_ask_write_down(a, &j, reterr);
        if (r < 0)
                return r;
        (void) queue_remove(a->queue, id);
        agents_tell(a, &j);
        webhook_send(a, id);
        return 0;
}

int agents_retry(Agents *a, const Principal *who, const char *id, Error *reterr) {
        _cleanup_(job_done) Job j = { 0 };
        int r = check_up(a, reterr);

        if (r >= 0)
                r = find_or_tell(a, who, id, &j, reterr);
        if (r < 0)
                return r;
        if (j.status != JOB_DEAD)
                return error_set(reterr, -ESTALE, "only dead letters can be retried; the execution is %s",
                                job_status_name(j.status));
        j.status = JOB_QUEUED;
        j.attempts_free = j.attempt;
        j.not_before = j.ended_at = j.provisioning_at = j.running_at = j.finished_at = 0;
        j.queued_at = clock_wall_usec();
        j.webhook_status = WEBHOOK_NONE;
        j.webhook_attempts = 0;
        r = agent_ask_write_down(a, &j, reterr);
        if (r < 0)
                return r;
        a->n_dead -= a->n_dead > 0;
        webhook_disown(a, id);
        agents_enqueue(a, &j);
        agents_tell(a, &j);
        return 0;
}

static void agent_ask_forget(Agents *a, const Job *j) {
        a->n_dead -= j->status == JOB_DEAD && a->n_dead > 0;
        collect_forget(a, j->id);
        agents_tell_forgotten(a, j);
}

int agents_delete(Agents *a, const Principal *who, const char *id, Error *reterr) {
        _cleanup_(job_done) Job j = { 0 };
        int r = find_or_tell(a, who, id, &j, reterr);

        if (r < 0)
                return r;
        if (!job_status_is_ended(j.status))
                return error_set(reterr, -EBUSY, "the execution has not ended (%s): cancel it first", job_status_name(j.status));
        r = store_job_delete(a->manager->store, id);
        if (r < 0)
                return error_set(reterr, r, "cannot delete it: %m");
        agent_ask_forget(a, &j);
        return 0;
}
