/* agents.c: POST /api/agents/execute, and waiting for the end of an execution.
 *
 * The execution is in the store before a client waits for it, so a client that leaves does not affect it. A
 * failure of the program is not a failure of the request, which is answered with 200. */

#include "api/native/agent/agents.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/glob.h"
#include "api/native/routes/routes.h"
#include "api/native/values.h"
#include "api/router.h"
#include "api/wait.h"
#include "core/limits.h"
#include "core/profile.h"

#define ARGUMENT_MAX 131071 /* the kernel's MAX_ARG_STRLEN, less the NUL */
#define CODE_MAX     ((size_t) 1 << 20)
#define TIMEOUT_MAX  (366 * 86400.0)
#define RETRY_AFTER  "5"
#define SHELL        "/bin/sh"

typedef struct AgentsExecuteBody {
        char *task_id, *agent_type, *template_name;
        char *context, *code, *language, *webhook;
        Strv command, env, capture;
        SandboxLimits limits;
        bool has_retries;
        TimeAsked time;
        uint32_t retries;
        int priority;
        bool async, capture_files, keep_sandbox;
} AgentsExecuteBody;

/* Fields with their own syntax. */

static int field_context(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        AgentsExecuteBody *b = target;

        free(b->context);
        b->context = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
        return b->context ? 0 : -ENOMEM;
}

/* A list is run as it is, a string by the shell. */
static int field_command(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        AgentsExecuteBody *b = target;
        const char *script = json_string_value(v);
        int r;

        if (!json_is_string(v)) {
                if (json_is_array(v) && json_array_size(v) == 0)
                        return json_complain(c, name, "must name a program");
                return shape_parse(f, v, name, target, c);
        }
        if (*script == '\0' || strlen(script) != json_string_length(v) || strlen(script) > ARGUMENT_MAX)
                return json_complain(c, name, "must have 1 to %d bytes, and no NUL among them", ARGUMENT_MAX);
        b->command = (Strv) STRV_INIT(JOB_COMMAND_MAX);
        r = strv_push(&b->command, SHELL);
        if (r >= 0)
                r = strv_push(&b->command, "-c");
        return r < 0 ? r : strv_push(&b->command, script);
}

static int field_retries(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        ((AgentsExecuteBody *) target)->has_retries = true;
        return shape_parse(f, v, name, target, c);
}

static int field_priority(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        json_int_t n = json_integer_value(v);

        if (!json_is_integer(v) || n < -JOB_PRIORITY_MAX || n > JOB_PRIORITY_MAX)
                return json_complain(c, name, "must be a whole number from %d to %d", -JOB_PRIORITY_MAX, JOB_PRIORITY_MAX);
        ((AgentsExecuteBody *) target)->priority = (int) n;
        return 0;
}

#define AT(member) offsetof(AgentsExecuteBody, member)
static const Shape native_agent_shape = SHAPE_FIELDS(
        { "taskId",          SHAPE_TEXT,   AT(task_id),       SHAPE_MANDATORY, .min = 1, .max = SANDBOX_TEXT_MAX },
        { "agentType",       SHAPE_TEXT,   AT(agent_type),    SHAPE_MANDATORY, .min = 1, .max = PROFILE_NAME_MAX },
        { "context",         SHAPE_JSON,   AT(context),       SHAPE_NULLABLE, .json = SHAPE_PARSE(field_context) },
        { "command",         SHAPE_STRV,   AT(command),       SHAPE_NULLABLE, .max = JOB_COMMAND_MAX, .json = SHAPE_PARSE(field_command) },
        { "code",            SHAPE_TEXT,   AT(code),          SHAPE_NULLABLE, .min = 1, .max = CODE_MAX },
        { "language",        SHAPE_TEXT,   AT(language),      SHAPE_NULLABLE, .min = 1, .max = 32 },
        { "env",             SHAPE_ENV,    AT(env),           SHAPE_NULLABLE, .max = SANDBOX_ENV_MAX },
        { "template",        SHAPE_TEXT,   AT(template_name), SHAPE_NULLABLE, .min = 1, .max = SANDBOX_TEXT_MAX },
        { "limits",          SHAPE_OBJECT, AT(limits),        SHAPE_NULLABLE, .shape = &sandbox_limits_shape },
        { "timeoutSeconds",  SHAPE_UINT64, AT(time.usec),     SHAPE_NULLABLE, .max = TIMEOUT_MAX, .unit = SHAPE_SECONDS, .json = SHAPE_PARSE(native_field_time) },
        { "maxRetries",      SHAPE_UINT32, AT(retries),       SHAPE_NULLABLE, .max = JOB_RETRIES_MAX, .json = SHAPE_PARSE(field_retries) },
        { "priority",        SHAPE_CUSTOM, 0,                 SHAPE_NULLABLE, .json = SHAPE_PARSE(field_priority) },
        { "async",           SHAPE_BOOL,   AT(async),         SHAPE_NULLABLE },
        { "webhook",         SHAPE_TEXT,   AT(webhook),       SHAPE_NULLABLE, .min = 1, .max = JOB_URL_MAX },
        { "captureFiles",    SHAPE_BOOL,   AT(capture_files), SHAPE_NULLABLE },
        { "capturePatterns", SHAPE_STRV,   AT(capture),       SHAPE_NULLABLE, .max = JOB_PATTERNS_MAX },
        { "keepSandbox",     SHAPE_BOOL,   AT(keep_sandbox),  SHAPE_NULLABLE });

static void agents_body_done(AgentsExecuteBody *b) {
        shape_done(&native_agent_shape, b);
}

static bool climbs(const char *pattern) {
        for (const char *p = pattern; *p;) {
                size_t n = strcspn(p, "/");

                if (n == 2 && strncmp(p, "..", 2) == 0)
                        return true;
                p += n + (p[n] == '/');
        }
        return false;
}

static int body_check(ApiRequest *q, void *target, JsonComplaints *c) {
        const AgentsExecuteBody *b = target;
        int r = 0;

        for (size_t i = 0; i < b->capture.n && r >= 0; i++)
                if (strlen(b->capture.items[i]) > GLOB_PATTERN_MAX)
                        r = json_complain(c, "capturePatterns", "'%.40s…' has %zu bytes, and a pattern has at most %d", b->capture.items[i], strlen(b->capture.items[i]),
                                        GLOB_PATTERN_MAX);
                else if (b->capture.items[i][0] == '/' || b->capture.items[i][0] == '\0' || climbs(b->capture.items[i]))
                        r = json_complain(c, "capturePatterns", "'%.100s' must be a pattern for paths below the workspace, without '..'",
                                        b->capture.items[i]);
        return r;
}

/* Waiting. */

/* Completes an abbreviated id in the parameter. */
static int agent_complete_parameter(ApiRequest *q, Agents *a) {
        char id[JOB_ID_LENGTH + 1];
        Error error = { 0 };
        char *whole;
        int r;

        if (router_parameter_place(q->route, "id") != 0)
                return 0;
        r = agents_complete_id(a, &q->who, q->parameters[0], id, &error);
        if (r == -ENOENT)
                return 0; /* not abbreviated, or unknown: the later lookup reports it */
        whole = r < 0 ? NULL : strdup(id);
        if (!whole)
                return api_errno(q, r < 0 ? r : -ENOMEM, error.text), -EINVAL;
        free(q->parameters[0]);
        q->parameters[0] = whole;
        return 0;
}

Agents *agent_room(ApiRequest *q) {
        Agents *a = native_room(q, q->api->rooms.agents, "this daemon runs no agent executions");

        return a && agent_complete_parameter(q, a) < 0 ? NULL : a;
}

int agent_error(ApiRequest *q, int r, const Error *error) {
        if (r == -EDQUOT) {
                (void) http_add_header(q->http, "Retry-After", RETRY_AFTER);
                return api_error(q, 429, "queue_full", "try again later", "%s", error->text);
        }
        if (r == -EAGAIN)
                (void) http_add_header(q->http, "Retry-After", "1");
        return api_errno(q, r, error->text);
}

int agent_answer(ApiRequest *q, unsigned status, const char *id) {
        Agents *a = q->api->rooms.agents;
        _cleanup_(job_done) Job j = { 0 };
        int r = agents_find(a, &q->who, id, &j);

        if (r == -ENOENT)
                return api_error(q, 404, "not_found", NULL, "there is no agent execution '%.60s'", id);
        if (r < 0)
                return api_errno(q, r, "cannot read the store");
        return api_answer(q, status, agents_json(a, &j, /* brief= */ false));
}

typedef struct AgentsWaiter {
        ApiWait wait;
        AgentWatch watch;
} AgentsWaiter;

static void agents_waiter_stop(ApiWait *wait) {
        agents_unwatch(&((AgentsWaiter *) wait)->watch);
}

static void agents_waiter_answer(ApiWait *wait) {
        (void) agent_answer(wait->q, 200, ((AgentsWaiter *) wait)->watch.id);
}

static void agents_on_changed(const char *id, JobStatus status, void *userdata) {
        if (job_status_is_ended(status))
                api_wait_over(userdata);
}

int agent_answer_end(ApiRequest *q, const char *id, usec_t wait_usec) {
        static const ApiWaitKind kind = { .stop = agents_waiter_stop, .answer = agents_waiter_answer };
        AgentsWaiter *w = api_wait_new(q, sizeof(*w), &kind, wait_usec);

        if (!w)
                return -ENOMEM;
        w->watch = (AgentWatch) { .changed = agents_on_changed, .userdata = w };
        agents_watch(q->api->rooms.agents, id, &w->watch);
        return 0;
}

/* Executing. */

static AgentRequest agents_make_request(ApiRequest *q, const AgentsExecuteBody *b) {
        return (AgentRequest) {
                .task_id = b->task_id,
                .agent_type = b->agent_type,
                .context = b->context,
                .command = &b->command,
                .code = b->code,
                .language = b->language,
                .env = &b->env,
                .template_name = b->template_name,
                .limits = b->limits,
                .time = b->time,
                .has_retries = b->has_retries,
                .retries = b->retries,
                .priority = b->priority,
                .webhook = b->webhook,
                .idempotency_key = http_header(q->http, "Idempotency-Key"),
                .capture_files = b->capture_files,
                .capture = &b->capture,
                .keep_sandbox = b->keep_sandbox,
        };
}

/* RFC 7240: a list of preferences, each with parameters, which are ignored. */
static bool prefers_async(ApiRequest *q) {
        static const char word[] = "respond-async";
        const char *p = http_header(q->http, "Prefer");

        while (p && *p) {
                p += strspn(p, " \t,");
                if (strncasecmp(p, word, strlen(word)) == 0 && strchr(" \t,;", p[strlen(word)]))
                        return true;
                p += strcspn(p, ",");
        }
        return false;
}

static int agents_refuse(ApiRequest *q, int r, const char *field, const Error *error) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };

        if (r == -EPERM) {
                observe_security(q->manager, "policy", NULL, "%s", error->text);
                return api_error(q, 403, "beyond_profile", NULL, "%s: %s", field ? field : "limits", error->text);
        }
        if (r != -EINVAL || !field)
                return agent_error(q, r, error);
        if (json_complain(&c, field, "%s", error->text) < 0)
                return api_errno(q, -ENOMEM, NULL);
        return api_complaints(q, &c);
}

static int agents_check_key(ApiRequest *q) {
        const char *key = http_header(q->http, "Idempotency-Key");

        if (!key || (*key && strlen(key) <= JOB_KEY_MAX))
                return 0;
        (void) api_error(q, 400, "invalid", NULL, "Idempotency-Key: must have 1 to %d characters", JOB_KEY_MAX);
        return -EINVAL;
}

static void answer_submitted(ApiRequest *q, const char *id, bool async) {
        Job j = { 0 };
        bool ended = agents_find(q->api->rooms.agents, &q->who, id, &j) >= 0 && job_status_is_ended(j.status);

        job_done(&j);
        native_add_location(q, "agents/executions", id);
        if (async)
                (void) agent_answer(q, 202, id);
        else if (ended) /* the idempotency key belongs to an execution that has ended */
                (void) agent_answer(q, 200, id);
        else
                (void) agent_answer_end(q, id, USEC_INFINITY);
}

static void native_agent_execute(ApiRequest *q) {
        _cleanup_(agents_body_done) AgentsExecuteBody b = { 0 };
        Agents *a = agent_room(q);
        char id[JOB_ID_LENGTH + 1];
        const char *field = NULL;
        Error error = { 0 };
        AgentRequest request;
        bool existing;
        int r;

        limits_unsaid(&b.limits);
        if (!a || agents_check_key(q) < 0 || api_read_checked(q, &b, body_check) < 0)
                return;
        request = agents_make_request(q, &b);
        r = agents_submit(a, &q->who, &request, id, &existing, &field, &error);
        if (r < 0) {
                (void) agents_refuse(q, r, field, &error);
                return;
        }
        answer_submitted(q, id, b.async || prefers_async(q));
}

#define EXECUTION       "/api/agents/executions/{id}"
#define AGENT_EXECUTION .answer = &agent_execution_shape

const ApiRoute agent_routes[] = {
        { "POST",   "/api/agents/execute",    MAY_MANAGE, .handle = native_agent_execute, JSON_BODY(agent), AGENT_EXECUTION },
        { "GET",    "/api/agents/queue",      MAY_SEE,    .handle = native_agent_queue, ANSWER(agent_queue) },
        { "GET",    "/api/agents/executions", MAY_SEE,    .handle = native_agent_list, .answer = &agent_summary_shape, .answers_a_list = true,
          .queries = QUERIES("status", "agentType", "taskId", "limit", "cursor") },
        { "GET",    EXECUTION,                MAY_READ,   .handle = native_agent_get, AGENT_EXECUTION, .queries = QUERIES("waitSeconds") },
        { "GET",    EXECUTION "/logs",        MAY_READ,   .handle = native_agent_logs, .queries = QUERIES("stream", "from", "follow") },
        { "POST",   EXECUTION "/cancel",      MAY_MANAGE, .handle = native_agent_cancel, JSON_BODY(empty), AGENT_EXECUTION },
        { "POST",   EXECUTION "/retry",       MAY_MANAGE, .handle = native_agent_retry, JSON_BODY(empty), AGENT_EXECUTION },
        { "DELETE", EXECUTION,                MAY_MANAGE, .handle = native_agent_delete, ANSWER(deleted) },
        { 0 },
};
