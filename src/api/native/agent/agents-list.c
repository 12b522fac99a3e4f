/* agents-list.c: shows agent executions and their queue; cancel, retry and delete. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/agent/agents.h"
#include "api/native/answer.h"
#include "api/native/execution/exec.h"
#include "api/native/values.h"
#include "base/parse.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     1000
#define TYPE_MAX      64

/* The list, newest first. A cursor is the serial of the last entry returned. */

typedef struct AgentsListPage {
        NativePage page;
        Agents *agents;
} AgentsListPage;

static int put_job(Job *j, void *userdata) {
        AgentsListPage *p = userdata;

        return native_page_put(&p->page, agents_json(p->agents, j, /* brief= */ true), j->serial);
}

static const char *agents_list_lower(const char *text, char ret[static TYPE_MAX]) {
        size_t n = text ? strnlen(text, TYPE_MAX - 1) : 0;

        for (size_t i = 0; i < n; i++)
                ret[i] = (char) tolower((unsigned char) text[i]);
        ret[n] = '\0';
        return text ? ret : NULL;
}

void native_agent_list(ApiRequest *q) {
        AgentsListPage p = { NATIVE_PAGE(q, LIMIT_DEFAULT, LIMIT_MAX, .cursor_min = 1, .cursor_max = INT64_MAX), agent_room(q) };
        JobFilter f = { .tenant = q->who.tenant, .task_id = http_query(q->http, "taskId") };
        char type[TYPE_MAX];
        uint64_t next = 0;
        int r;

        f.agent_type = agents_list_lower(http_query(q->http, "agentType"), type);
        if (p.agents && native_query_bits(q, "status", &job_status_names, /* or_nothing= */ true, &f.statuses) >= 0 && native_page_begin(&p.page) >= 0) {
                f.before = p.page.from;
                f.limit = (unsigned) p.page.limit + 1; /* one more, to detect a next page */
                r = agents_each(p.agents, &f, put_job, &p, &next);
                if (!p.page.more && next > 0)
                        native_page_go_on(&p.page, next);
                native_page_answer(&p.page, r);
        }
        native_page_done(&p.page);
}

void native_agent_get(ApiRequest *q) {
        Agents *a = agent_room(q);
        _cleanup_(job_done) Job j = { 0 };
        usec_t wait = 0;

        if (!a || native_query_seconds(q, "waitSeconds", &wait) < 0)
                return;
        if (wait > 0 && agents_find(a, &q->who, q->parameters[0], &j) >= 0 && !job_status_is_ended(j.status))
                (void) agent_answer_end(q, q->parameters[0], wait);
        else
                (void) agent_answer(q, 200, q->parameters[0]);
}

/* Output: all of it while the sandbox's record exists; after that, what the agent execution has stored. */

static int base64_value(char c) {
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *p = c ? strchr(digits, c) : NULL;

        return p ? (int) (p - digits) : -1;
}

static size_t agents_list_base64_decode(const char *text, char *ret) {
        unsigned bits = 0, n_bits = 0;
        size_t n = 0;

        for (const char *p = text; base64_value(*p) >= 0; p++) {
                bits = bits << 6 | (unsigned) base64_value(*p);
                n_bits += 6;
                if (n_bits >= 8) {
                        n_bits -= 8;
                        ret[n++] = (char) (bits >> n_bits & 0xff);
                }
        }
        return n;
}

static void answer_remembered(ApiRequest *q, const JobOutput *o) {
        size_t size = o->text ? strlen(o->text) : 0;
        char *data = malloc(size + 1);
        uint64_t from = 0;

        if (!data) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        if (api_query_uint(q, "from", 0, INT64_MAX, &from) < 0) {
                free(data);
                return;
        }
        if (o->base64)
                size = agents_list_base64_decode(o->text, data);
        else if (size > 0)
                memcpy(data, o->text, size);
        from = MIN_OF(from, (uint64_t) size);
        memmove(data, data + from, size - (size_t) from);
        if (o->truncated)
                (void) http_add_header(q->http, "X-Truncated", "true");
        q->answered = true;
        (void) http_answer_take(q->http, 200, "application/octet-stream", data, size - (size_t) from);
}

void native_agent_logs(ApiRequest *q) {
        Agents *a = agent_room(q);
        _cleanup_(job_done) Job j = { 0 };
        const char *stream = http_query(q->http, "stream");
        char number[EXECUTION_ID_MAX];
        int r = a ? agents_find(a, &q->who, q->parameters[0], &j) : -EOPNOTSUPP;

        if (!a)
                return;
        if (r < 0) {
                (void) agent_answer(q, 200, q->parameters[0]); /* reports the failed lookup */
                return;
        }
        if (stream && strcmp(stream, "stdout") != 0 && strcmp(stream, "stderr") != 0) {
                (void) native_complain(q, "stream", "must be stdout or stderr, not '%.64s'", stream);
                return;
        }
        (void) snprintf(number, sizeof(number), "e%" PRIu64, j.execution);
        q->sandbox = j.execution > 0 ? manager_by_id(q->manager, j.sandbox_id) : NULL;
        q->execution = q->sandbox ? manager_find_execution(q->sandbox, number) : NULL;
        if (q->execution && !q->execution->journals_gone)
                native_exec_output(q);
        else
                answer_remembered(q, stream && strcmp(stream, "stderr") == 0 ? &j.err : &j.out);
}

/* Actions on an execution. */

static void agents_list_ask(ApiRequest *q, int (*function)(Agents *a, const Principal *who, const char *id, Error *reterr)) {
        Agents *a = agent_room(q);
        Error error = { 0 };
        int r = a ? function(a, &q->who, q->parameters[0], &error) : 0;

        if (!a)
                return;
        if (r == -EALREADY || r == -ESTALE || r == -EBUSY)
                (void) api_error(q, 409, "conflict", NULL, "%s", error.text);
        else if (r < 0)
                (void) agent_error(q, r, &error);
        else
                (void) agent_answer(q, r > 0 ? 202 : 200, q->parameters[0]);
}

void native_agent_cancel(ApiRequest *q) {
        agents_list_ask(q, agents_cancel);
}

void native_agent_retry(ApiRequest *q) {
        agents_list_ask(q, agents_retry);
}

void native_agent_delete(ApiRequest *q) {
        Agents *a = agent_room(q);
        Error error = { 0 };
        int r = a ? agents_delete(a, &q->who, q->parameters[0], &error) : 0;

        if (r == -EBUSY)
                (void) api_error(q, 409, "conflict", NULL, "%s", error.text);
        else if (r < 0)
                (void) agent_error(q, r, &error);
        else if (a)
                native_answer_deleted(q, q->parameters[0], r, NULL);
}

/* The queue. */

static json_t *agent_show_priorities(const ShapeField *f, const void *object) {
        const AgentQueueStats *s = object;
        json_t *o = json_object();

        for (int i = AGENT_PRIORITIES - 1; i >= 0; i--)
                if (s->by_priority[i] > 0) {
                        char name[16];

                        (void) snprintf(name, sizeof(name), "%d", i - JOB_PRIORITY_MAX);
                        (void) json_object_set_new(o, name, json_integer((json_int_t) s->by_priority[i]));
                }
        return o;
}

#define OF(member) offsetof(AgentQueueStats, member)
static const Shape agent_waits_shape = SHAPE_FIELDS(
        { "count", SHAPE_UINT64, OF(n_waits)                                      },
        { "p50Ms", SHAPE_UINT64, OF(wait_p50_usec), .unit = SHAPE_MILLISECONDS    },
        { "p95Ms", SHAPE_UINT64, OF(wait_p95_usec), .unit = SHAPE_MILLISECONDS    },
        { "p99Ms", SHAPE_UINT64, OF(wait_p99_usec), .unit = SHAPE_MILLISECONDS    });

static const Shape agent_totals_shape = SHAPE_FIELDS(
        { "submitted", SHAPE_UINT64, OF(submitted) }, { "attempts", SHAPE_UINT64, OF(attempts) },
        { "retried", SHAPE_UINT64, OF(retried) }, { "completed", SHAPE_UINT64, OF(completed) },
        { "failed", SHAPE_UINT64, OF(failed) }, { "dead", SHAPE_UINT64, OF(died) },
        { "cancelled", SHAPE_UINT64, OF(cancelled) });

const Shape native_agent_queue_answer = SHAPE_FIELDS(
        { "depth", SHAPE_UINT64, OF(depth) }, { "delayed", SHAPE_UINT64, OF(delayed) },
        { "active", SHAPE_UINT64, OF(active) }, { "running", SHAPE_UINT64, OF(running) },
        { "deadLetters", SHAPE_UINT64, OF(dead) },
        { "oldestWaitMs", SHAPE_UINT64, OF(oldest_usec), .unit = SHAPE_MILLISECONDS           },
        { "byPriority",   SHAPE_JSON,   0, .json = SHAPE_SHOW(agent_show_priorities)          },
        { "waits",        SHAPE_OBJECT, 0, .shape = &agent_waits_shape                        },
        { "totals",       SHAPE_OBJECT, 0, .shape = &agent_totals_shape                       });

void native_agent_queue(ApiRequest *q) {
        Agents *a = agent_room(q);
        AgentQueueStats s;
        int r = a ? agents_queue_stats(a, q->who.tenant, &s) : 0;

        if (r < 0)
                (void) api_errno(q, r, "cannot read the store");
        else if (a)
                (void) api_show(q, 200, &s);
}
