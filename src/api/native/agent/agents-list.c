/* agents-list.c: looking at agent executions and at their queue, and what can be asked of them. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/agent/agents.h"
#include "api/native/sandbox/sandbox.h"
#include "api/native/values.h"
#include "api/page.h"
#include "base/parse.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     1000
#define TYPE_MAX      64

/* A list, the newest first. A cursor is the serial of the last one that was told. */

typedef struct AgentsListPage {
        Agents *agents;
        json_t *list;
        uint64_t last;
} AgentsListPage;

static int agents_list_read_statuses(ApiRequest *q, unsigned *ret) {
        const char *text = http_query(q->http, "status");

        for (const char *p = text; p && *p;) {
                size_t n = strcspn(p, ",");
                char name[32];
                JobStatus s;

                (void) snprintf(name, sizeof(name), "%.*s", (int) MIN_OF(n, sizeof(name) - 1), p);
                s = job_status_from_name(name);
                if (s < 0)
                        return native_complain(q, "status",
                                        "there is no status '%s' (there are: queued, provisioning, running, completed, failed, dead, cancelled)",
                                        name);
                *ret |= 1U << s;
                p += n + (p[n] == ',');
        }
        return 0;
}

static int put_job(Job *j, void *userdata) {
        AgentsListPage *p = userdata;

        p->last = j->serial;
        return json_array_append_new(p->list, agents_json(p->agents, j, /* brief= */ true));
}

void native_agent_list(ApiRequest *q) {
        AgentsListPage page = { .agents = agent_room(q) };
        JobFilter f = { .tenant = q->who.tenant, .task_id = http_query(q->http, "taskId") };
        const char *type = http_query(q->http, "agentType");
        char lower[TYPE_MAX];
        uint64_t limit = LIMIT_DEFAULT, next = 0;
        int r;

        if (!page.agents || agents_list_read_statuses(q, &f.statuses) < 0 || api_query_uint(q, "limit", 1, LIMIT_MAX, &limit) < 0 ||
                        api_query_uint(q, "cursor", 1, INT64_MAX, &f.before) < 0)
                return;
        for (size_t i = 0; type && i < sizeof(lower); i++) {
                lower[i] = i + 1 < sizeof(lower) ? (char) tolower((unsigned char) type[i]) : '\0';
                if (!lower[i])
                        break;
        }
        f.agent_type = type ? lower : NULL;
        f.limit = (unsigned) limit + 1; /* one more, to know whether there is */
        page.list = json_array();
        r = agents_each(page.agents, &f, put_job, &page, &next);
        if (r < 0) {
                json_decref(page.list);
                (void) api_errno(q, r, "cannot read the store");
                return;
        }
        if (json_array_size(page.list) > limit) {
                (void) json_array_remove(page.list, (size_t) limit);
                next = page.last + 1;
        }
        if (next > 0)
                (void) api_page_next_number(q, next);
        (void) api_answer(q, 200, page.list);
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

/* Output: all of it while the sandbox's record is there; then what the execution remembers. */

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
                (void) agent_answer(q, 200, q->parameters[0]); /* which says why not */
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

/* What can be asked. */

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

        if (!a)
                return;
        if (r == -EBUSY)
                (void) api_error(q, 409, "conflict", NULL, "%s", error.text);
        else if (r < 0)
                (void) agent_error(q, r, &error);
        else
                (void) api_answer(q, 200, json_pack("{s:s,s:b}", "id", q->parameters[0], "deleted", 1));
}

/* The queue. */

static json_t *priorities_json(const AgentQueueStats *s) {
        json_t *o = json_object();

        for (int i = AGENT_PRIORITIES - 1; i >= 0; i--)
                if (s->by_priority[i] > 0) {
                        char name[16];

                        (void) snprintf(name, sizeof(name), "%d", i - JOB_PRIORITY_MAX);
                        (void) json_object_set_new(o, name, json_integer((json_int_t) s->by_priority[i]));
                }
        return o;
}

void native_agent_queue(ApiRequest *q) {
        Agents *a = agent_room(q);
        AgentQueueStats s;
        int r = a ? agents_queue_stats(a, q->who.tenant, &s) : 0;

        if (!a)
                return;
        if (r < 0) {
                (void) api_errno(q, r, "cannot read the store");
                return;
        }
        (void) api_answer(q, 200,
                        json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:{s:I,s:o,s:o,s:o},s:{s:I,s:I,s:I,s:I,s:I,s:I,s:I}}",
                                "depth", (json_int_t) s.depth, "delayed", (json_int_t) s.delayed, "active", (json_int_t) s.active,
                                "running", (json_int_t) s.running, "deadLetters", (json_int_t) s.dead,
                                "oldestWaitMs", json_milliseconds(s.oldest_usec), "byPriority", priorities_json(&s),
                                "waits", "count", (json_int_t) s.n_waits, "p50Ms", json_milliseconds(s.wait_p50_usec),
                                "p95Ms", json_milliseconds(s.wait_p95_usec), "p99Ms", json_milliseconds(s.wait_p99_usec),
                                "totals", "submitted", (json_int_t) s.submitted, "attempts", (json_int_t) s.attempts,
                                "retried", (json_int_t) s.retried, "completed", (json_int_t) s.completed, "failed", (json_int_t) s.failed,
                                "dead", (json_int_t) s.died, "cancelled", (json_int_t) s.cancelled));
}
