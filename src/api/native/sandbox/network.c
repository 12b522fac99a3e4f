/* network.c: the network of a sandbox: its policy while it runs, denied and learned destinations. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/policy.h"
#include "config/config.h"
#include "core/allowance.h"
#include "gatekeeper/gatekeeper.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000

static Gatekeeper *native_network_keeper_of(ApiRequest *q) {
        return native_room(q, q->api->rooms.gatekeeper, "this daemon has no networks for sandboxes");
}

/* Policies. */

typedef struct PolicyBody {
        json_t *policy;
} PolicyBody;

static void native_network_body_done(PolicyBody *b) {
        json_decref(b->policy);
}

/* Collects all fields in one object, because the parser of policies reads a whole one. */
static int field_collect(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        PolicyBody *b = target;

        if (!b->policy)
                b->policy = json_object();
        return json_object_set(b->policy, f->name, v) < 0 ? -ENOMEM : 0;
}

#define COLLECTED(name, ...) { name, SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect), ##__VA_ARGS__ }
static const Shape native_policy_shape = SHAPE_FIELDS(
        COLLECTED("preset"), COLLECTED("network"), COLLECTED("allowNetworkAccess"),
        COLLECTED("allowedDomains"), COLLECTED("deniedDomains"), COLLECTED("requireTls"),
        COLLECTED("maxRequestSize"), COLLECTED("maxResponseSize"), COLLECTED("timeout"),
        COLLECTED("readOnlyPaths"), COLLECTED("writablePaths"), COLLECTED("deniedPaths"),
        COLLECTED("allowFileSystem"), COLLECTED("allowedPaths"), COLLECTED("allowedExtensions"),
        COLLECTED("maxFileSize"), COLLECTED("maxTotalSize"), COLLECTED("allowProcessCreation"),
        COLLECTED("allowEnvironmentAccess"), COLLECTED("allowedLanguages", .flags = SHAPE_NULLABLE),
        COLLECTED("maxExecutionTime"), COLLECTED("maxMemoryUsage"), COLLECTED("maxCpuUsage"),
        COLLECTED("credentials"));

static const char *const changeable[] = { "network",    "allowNetworkAccess", "allowedDomains",  "deniedDomains",
                                          "requireTls", "maxRequestSize",     "maxResponseSize", "timeout",
                                          "credentials" };

static bool can_change(const char *field) {
        for (size_t i = 0; i < ELEMENTSOF(changeable); i++)
                if (strcmp(changeable[i], field) == 0)
                        return true;
        return false;
}

/* The policy as JSON. A sandbox without one has an empty policy. */
static json_t *policy_of(const char *text) {
        Policy nothing = { 0 };
        json_t *j;

        if (text && *text)
                return json_loads(text, 0, NULL);
        policy_init(&nothing);
        j = policy_to_json(&nothing);
        policy_done(&nothing);
        return j;
}

/* A request may repeat what is built into the sandbox, but not change it. */
static int check_built_in(const PolicyBody *b, const Policy *p, const Sandbox *sb, JsonComplaints *c) {
        _cleanup_json_ json_t *now = policy_of(sb->spec.policy), *wanted = policy_to_json(p);
        const char *field;
        json_t *value;
        int r = 0;

        json_object_foreach(b->policy, field, value) {
                json_t *before = json_object_get(now, field), *after = json_object_get(wanted, field);

                if (r >= 0 && !can_change(field) && (!before || !after || !json_equal(before, after)))
                        r = json_complain(c, field, "is built into the sandbox, and cannot change while it runs: make another one");
        }
        return r;
}

static int native_network_parse(ApiRequest *q, PolicyBody *b, Policy *ret, JsonComplaints *c) {
        const NetworkConfig *n = &q->manager->settings->network;

        return policy_parse(b->policy, "policy", NETWORK_SITE(n), ret, c);
}

static void answer_policy(ApiRequest *q, const Sandbox *sb) {
        (void) api_answer(q, 200, policy_of(sb->spec.policy));
}

static void native_policy_get(ApiRequest *q) {
        answer_policy(q, q->sandbox);
}

static void policy_destroy(ApiRequest *q, bool answered) {
        gatekeeper_forget_policy(q->api->rooms.gatekeeper, q->sandbox_id, q);
}

static void native_network_on_set(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                (void) api_errno(q, error->code, error->text);
        else
                answer_policy(q, sb);
}

static bool native_network_may_change(ApiRequest *q) {
        Error error = { 0 };

        if (allowance_check_policy_change(q->manager, &q->who, &q->sandbox->spec, &error) >= 0)
                return true;
        (void) api_error(q, 403, "beyond_profile", NULL, "%s", error.text);
        return false;
}

static void native_policy_put(ApiRequest *q) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_(policy_done) Policy p = { 0 };
        _cleanup_(native_network_body_done) PolicyBody b = { 0 };
        Gatekeeper *k = native_network_keeper_of(q);
        Error error = { 0 };
        int r;

        if (!k || !native_network_may_change(q) || api_read(q, &b) < 0)
                return;
        r = native_network_parse(q, &b, &p, &c);
        if (r >= 0 && !json_has_complaints(&c))
                r = check_built_in(&b, &p, q->sandbox, &c);
        if (r >= 0 && json_has_complaints(&c)) {
                (void) api_complaints(q, &c);
                return;
        }
        q->destroy = policy_destroy;
        if (r >= 0)
                r = gatekeeper_set_policy(k, &q->who, q->sandbox, &p, native_network_on_set, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

typedef struct PolicyCheck {
        bool valid;
        json_t *errors, *policy;
} PolicyCheck;

static const Shape policy_complaint_shape = SHAPE_FIELDS(
        { "field",   SHAPE_BORROWED, 0, SHAPE_ALWAYS },
        { "message", SHAPE_BORROWED, 0, SHAPE_ALWAYS });

static const Shape native_policy_check_answer = SHAPE_FIELDS(
        { "valid",  SHAPE_BOOL,   offsetof(PolicyCheck, valid) },
        { "errors", SHAPE_LIST,   offsetof(PolicyCheck, errors), .shape = &policy_complaint_shape, .json = SHAPE_MADE },
        { "policy", SHAPE_CUSTOM, offsetof(PolicyCheck, policy), .json = SHAPE_MADE });

static void native_network_answer_check(ApiRequest *q, const JsonComplaints *c, const Policy *p) {
        bool valid = !json_has_complaints(c);
        _cleanup_json_ json_t *none = json_array(), *policy = valid ? policy_to_json(p) : NULL;

        (void) api_show(q, 200, &(PolicyCheck) { valid, valid ? none : c->list, policy });
}

/* Answers with all complaints, or with the meaning of the policy. */
static void native_policy_check(ApiRequest *q) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_(policy_done) Policy p = { 0 };
        _cleanup_(native_network_body_done) PolicyBody b = { 0 };
        Gatekeeper *k = native_network_keeper_of(q);
        Error error = { 0 };
        int r;

        if (!k || api_read(q, &b) < 0)
                return;
        r = native_network_parse(q, &b, &p, &c);
        if (r >= 0 && !json_has_complaints(&c) && gatekeeper_check_policy(k, &p.network, &error) < 0)
                r = json_complain(&c, "policy.network", "%s", error.text);
        if (r < 0)
                (void) api_errno(q, r, NULL);
        else
                native_network_answer_check(q, &c, &p);
}

static void native_policy_explain(ApiRequest *q) {
        const char *url = http_query(q->http, "url"), *method = http_query(q->http, "method");
        Gatekeeper *k = native_network_keeper_of(q);
        Error error = { 0 };
        json_t *j = NULL;
        int r;

        if (!k)
                return;
        if (!url) {
                (void) api_error(q, 400, "invalid", "…/policy/explain?url=https://example.org/", "there is no url to explain");
                return;
        }
        r = gatekeeper_explain(k, q->sandbox, url, method, &j, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, j);
}

/* Denied and learned destinations. */

static int native_network_add_denial(const NetworkDenial *d, void *userdata) {
        return native_page_add(userdata, d, d->number);
}

static void native_network_denials(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_PAGE(q, LIST_DEFAULT, LIST_MAX, .cursor_min = 1, .cursor_max = INT64_MAX);

        if (native_page_begin(&p) >= 0)
                native_page_answer(&p, gatekeeper_denial_each(q->manager, q->sandbox->id, p.from, (unsigned) p.limit + 1, native_network_add_denial, &p));
}

static void native_network_learned(ApiRequest *q) {
        Gatekeeper *k = native_network_keeper_of(q);
        json_t *j = NULL;
        int r;

        if (!k)
                return;
        r = gatekeeper_learned(k, q->sandbox, &j);
        if (r < 0)
                (void) api_errno(q, r, NULL);
        else
                (void) api_answer(q, 200, j);
}

/* Approvals. */

static int add_approval(StoreApproval *a, void *userdata) {
        if (strcmp(a->status, "open") == 0)
                a->answered_at = 0;
        return native_page_add(userdata, a, a->serial);
}

static bool is_status(const char *text) {
        static const char *const words[] = { "open", "allowed", "denied", "expired" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcmp(words[i], text) == 0)
                        return true;
        return false;
}

static void native_approval_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_PAGE(q, LIST_DEFAULT, LIST_MAX, .cursor_min = 1, .cursor_max = INT64_MAX);
        const char *status = http_query(q->http, "status");

        if (native_page_begin(&p) < 0)
                return;
        if (status && !is_status(status))
                (void) api_error(q, 400, "invalid", NULL, "status: '%.60s' is none (open, allowed, denied, expired)", status);
        else
                native_page_answer(&p, gatekeeper_approval_each(q->manager, q->who.tenant, status, p.from, (unsigned) p.limit + 1, add_approval, &p));
}

typedef struct AnswerBody {
        bool allow;
        ApprovalScope scope;
} AnswerBody;

static int native_network_field_scope(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        int scope = json_is_string(v) ? approval_scope_from_string(json_string_value(v)) : -EINVAL;

        if (scope < 0)
                return json_complain(c, name, "must be \"once\", \"sandbox\" or \"profile\"");
        ((AnswerBody *) target)->scope = (ApprovalScope) scope;
        return 0;
}

static const Shape native_approval_shape = SHAPE_FIELDS(
        { "allow", SHAPE_BOOL,   offsetof(AnswerBody, allow), SHAPE_MANDATORY },
        { "scope", SHAPE_CUSTOM, 0,                           SHAPE_NULLABLE, .json = SHAPE_PARSE(native_network_field_scope) });

static int show_approval(StoreApproval *a, void *userdata) {
        return api_show(userdata, 200, a);
}

static void native_approval_answer(ApiRequest *q) {
        Gatekeeper *k = native_network_keeper_of(q);
        AnswerBody b = { .scope = APPROVAL_ONCE };
        Error error = { 0 };
        int r;

        if (!k || api_read(q, &b) < 0)
                return;
        r = gatekeeper_answer(k, &q->who, q->parameters[0], b.allow, b.scope, &error);
        if (r == -EALREADY || r == -ETIME) {
                (void) api_error(q, 409, r == -ETIME ? "expired" : "conflict", NULL, "%s", error.text);
                return;
        }
        if (r >= 0)
                r = gatekeeper_approval_find(q->manager, q->parameters[0], show_approval, q);
        if (r < 0 && !q->answered)
                (void) api_errno(q, r, error.text);
}

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute network_routes[] = {
        { "GET",  SANDBOX "/policy",           MAY_SEE,    .handle = native_policy_get },
        { "PUT",  SANDBOX "/policy",           MAY_MANAGE, .handle = native_policy_put, JSON_BODY(policy) },
        { "GET",  SANDBOX "/policy/explain",   MAY_SEE,    .handle = native_policy_explain, .queries = QUERIES("url", "method") },
        { "GET",  SANDBOX "/network/denials",  MAY_SEE,    .handle = native_network_denials, .answer = &network_denial_shape, .answers_a_list = true,
          .queries = QUERIES("limit", "cursor") },
        { "GET",  SANDBOX "/network/learned",  MAY_SEE,    .handle = native_network_learned },
        { "POST", "/api/policy/check",         MAY_SEE,    .handle = native_policy_check, JSON_BODY(policy), ANSWER(policy_check) },
        { "GET",  "/api/approvals",            MAY_SEE,    .handle = native_approval_list, .answer = &approval_shape, .answers_a_list = true,
          .queries = QUERIES("status", "limit", "cursor") },
        { "POST", "/api/approvals/{approval}", MAY_MANAGE, .handle = native_approval_answer, JSON_BODY(approval), .answer = &approval_shape },
        { 0 },
};
