/* network.c: what a sandbox may reach: its policy while it runs, what was denied and what was learned. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"
#include "api/page.h"
#include "api/policy.h"
#include "config/config.h"
#include "gatekeeper/gatekeeper.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000

static Gatekeeper *native_network_keeper_of(ApiRequest *q) {
        if (!q->api->rooms.gatekeeper)
                (void) api_errno(q, -EOPNOTSUPP, "this daemon has no networks for sandboxes");
        return q->api->rooms.gatekeeper;
}

static void native_network_answer_or_fail(ApiRequest *q, json_t *j) {
        if (j)
                (void) api_answer(q, 200, j);
        else
                (void) api_errno(q, -ENOMEM, NULL);
}

/* Policies. */

typedef struct PolicyBody {
        json_t *policy;
} PolicyBody;

static void native_network_body_done(PolicyBody *b) {
        json_decref(b->policy);
}

/* All of them go to one object: who reads policies, reads it as a whole. */
static int field_collect(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        PolicyBody *b = target;

        if (!b->policy)
                b->policy = json_object();
        return json_object_set(b->policy, f->name, v) < 0 ? -ENOMEM : 0;
}

static const ShapeField native_policy_fields[] = {
        { "preset",                  SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "network",                 SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowNetworkAccess",      SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowedDomains",          SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "deniedDomains",           SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "requireTls",              SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "maxRequestSize",          SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "maxResponseSize",         SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "timeout",                 SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "readOnlyPaths",           SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "writablePaths",           SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "deniedPaths",             SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowFileSystem",         SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowedPaths",            SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowedExtensions",       SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "maxFileSize",             SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "maxTotalSize",            SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowProcessCreation",    SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowEnvironmentAccess",  SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "allowedLanguages", SHAPE_CUSTOM, .flags = SHAPE_NULLABLE, .json = SHAPE_PARSE(field_collect) },
        { "maxExecutionTime",        SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "maxMemoryUsage",          SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "maxCpuUsage",             SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
        { "credentials",             SHAPE_CUSTOM, .json = SHAPE_PARSE(field_collect) },
};
const Shape native_policy_shape = SHAPE_BODY(native_policy_fields);

static const char *const changeable[] = { "network",    "allowNetworkAccess", "allowedDomains",  "deniedDomains",
                                          "requireTls", "maxRequestSize",     "maxResponseSize", "timeout",
                                          "credentials" };

static bool can_change(const char *field) {
        for (size_t i = 0; i < ELEMENTSOF(changeable); i++)
                if (strcmp(changeable[i], field) == 0)
                        return true;
        return false;
}

/* What there is without one. */
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

/* What is built into a sandbox may be said again, and not otherwise. */
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

        return policy_parse(b->policy, "policy", n->reachable, n->n_reachable, ret, c);
}

static void answer_policy(ApiRequest *q, const Sandbox *sb) {
        native_network_answer_or_fail(q, policy_of(sb->spec.policy));
}

void native_policy_get(ApiRequest *q) {
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

/* A profile's policy is the operator's word. */
static bool native_network_is_of_profile(ApiRequest *q) {
        const char *name = q->sandbox->spec.profile;
        const Profile *p = name && *name ? profile_find(q->manager->settings, name) : NULL;

        if (!p || !p->policy || principal_may_loosen(&q->who))
                return false;
        (void) api_error(q, 403, "beyond_profile", NULL, "the policy is that of profile '%s': only a key that may loosen can change it", p->name);
        return true;
}

void native_policy_put(ApiRequest *q) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_(policy_done) Policy p = { 0 };
        _cleanup_(native_network_body_done) PolicyBody b = { 0 };
        Gatekeeper *k = native_network_keeper_of(q);
        Error error = { 0 };
        int r;

        if (!k || native_network_is_of_profile(q) || api_read(q, &b) < 0)
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
                r = gatekeeper_set_policy(k, q->sandbox, &p, native_network_on_set, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

/* All complaints, or what it means. */
void native_policy_check(ApiRequest *q) {
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
        else if (json_has_complaints(&c))
                native_network_answer_or_fail(q, json_pack("{s:b, s:O, s:n}", "valid", 0, "errors", c.list, "policy"));
        else
                native_network_answer_or_fail(q, json_pack("{s:b, s:[], s:o}", "valid", 1, "errors", "policy", policy_to_json(&p)));
}

void native_policy_explain(ApiRequest *q) {
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

/* What became of it. */

typedef struct NativeNetworkPage {
        json_t *list;
        uint64_t limit, last;
        bool more;
} NativeNetworkPage;

static int native_network_add_denial(const NetworkDenial *d, void *userdata) {
        NativeNetworkPage *p = userdata;
        json_t *j;

        if (json_array_size(p->list) >= p->limit) {
                p->more = true;
                return 0;
        }
        p->last = d->number;
        j = json_pack("{s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "number", (json_int_t) d->number, "time",
                        json_time(d->at), "kind", d->kind, "protocol", json_text_or_null(d->protocol), "host", json_text_or_null(d->host),
                        "address", json_text_or_null(d->address), "port", d->port > 0 ? json_integer(d->port) : json_null(), "method",
                        json_text_or_null(d->method), "path", json_text_or_null(d->path), "rule", json_text_or_null(d->rule), "reason",
                        json_text_or_null(d->reason), "text", json_text_or_null(d->text), "cure", json_text_or_null(d->cure), "count",
                        (json_int_t) d->count);
        return json_array_append_new(p->list, j) < 0 ? -ENOMEM : 0;
}

static void native_network_answer_page(ApiRequest *q, NativeNetworkPage *p, int r) {
        if (r < 0) {
                json_decref(p->list);
                (void) api_errno(q, r, NULL);
                return;
        }
        if (p->more)
                (void) api_page_next_number(q, p->last);
        (void) api_answer(q, 200, p->list);
}

void native_network_denials(ApiRequest *q) {
        NativeNetworkPage p = { .limit = LIST_DEFAULT };
        uint64_t before = 0;

        if (api_query_uint(q, "limit", 1, LIST_MAX, &p.limit) < 0 || api_query_uint(q, "cursor", 1, INT64_MAX, &before) < 0)
                return;
        p.list = json_array();
        native_network_answer_page(q, &p, p.list ? gatekeeper_denial_each(q->manager, q->sandbox->id, before, (unsigned) p.limit + 1, native_network_add_denial, &p) : -ENOMEM);
}

void native_network_learned(ApiRequest *q) {
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
        NativeNetworkPage *p = userdata;
        bool open = strcmp(a->status, "open") == 0;
        json_t *j;

        if (json_array_size(p->list) >= p->limit) {
                p->more = true;
                return 0;
        }
        p->last = a->serial;
        j = json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "id", a->id, "status", a->status, "sandbox", a->sandbox,
                        "tenant", json_text_or_null(*a->tenant ? a->tenant : NULL), "profile", json_text_or_null(a->profile), "object",
                        a->object, "rule", a->rule, "askedAt", json_time(a->asked_at), "expiresAt", json_time(a->expires_at), "answeredAt",
                        json_time(open ? 0 : a->answered_at), "scope", json_text_or_null(*a->scope ? a->scope : NULL), "by",
                        json_text_or_null(a->by));
        return json_array_append_new(p->list, j) < 0 ? -ENOMEM : 0;
}

static bool is_status(const char *text) {
        static const char *const words[] = { "open", "allowed", "denied", "expired" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcmp(words[i], text) == 0)
                        return true;
        return false;
}

void native_approval_list(ApiRequest *q) {
        const char *status = http_query(q->http, "status");
        NativeNetworkPage p = { .limit = LIST_DEFAULT };
        uint64_t before = 0;

        if (api_query_uint(q, "limit", 1, LIST_MAX, &p.limit) < 0 || api_query_uint(q, "cursor", 1, INT64_MAX, &before) < 0)
                return;
        if (status && !is_status(status)) {
                (void) api_error(q, 400, "invalid", NULL, "status: '%.60s' is none (open, allowed, denied, expired)", status);
                return;
        }
        p.list = json_array();
        native_network_answer_page(q, &p, p.list ? gatekeeper_approval_each(q->manager, q->who.tenant, status, before, (unsigned) p.limit + 1, add_approval, &p)
                                  : -ENOMEM);
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

static const ShapeField native_approval_fields[] = {
        { "allow", SHAPE_BOOL,   offsetof(AnswerBody, allow), SHAPE_MANDATORY                                              },
        { "scope", SHAPE_CUSTOM, 0,                           SHAPE_NULLABLE, .json = SHAPE_PARSE(native_network_field_scope) },
};
const Shape native_approval_shape = SHAPE_BODY(native_approval_fields);

void native_approval_answer(ApiRequest *q) {
        Gatekeeper *k = native_network_keeper_of(q);
        AnswerBody b = { .scope = APPROVAL_ONCE };
        NativeNetworkPage p = { .limit = 1, .list = NULL };
        Error error = { 0 };
        int r;

        if (!k || api_read(q, &b) < 0)
                return;
        r = gatekeeper_answer(k, &q->who, q->parameters[0], b.allow, b.scope, &error);
        if (r == -EALREADY || r == -ETIME) {
                (void) api_error(q, 409, r == -ETIME ? "expired" : "conflict", NULL, "%s", error.text);
                return;
        }
        p.list = json_array();
        if (r >= 0)
                r = gatekeeper_approval_find(q->manager, q->parameters[0], add_approval, &p);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, json_incref(json_array_get(p.list, 0)));
        json_decref(p.list);
}
