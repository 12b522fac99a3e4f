/* network.c: PUT /sandboxes/{id}/network: replaces what it may reach. Options that the body omits are reset. */

#include <errno.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"
#include "config/config.h"
#include "core/allowance.h"
#include "gatekeeper/gatekeeper.h"
#include "policy/policy.h"

typedef struct NetworkBody {
        json_t *allow, *deny, *proxy, *rules;
        E2bFlag internet;
} NetworkBody;

#define AT(field) offsetof(NetworkBody, field)
static const ShapeField network_fields[] = {
        { "allowOut",              SHAPE_CUSTOM, AT(allow),    SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)  },
        { "denyOut",               SHAPE_CUSTOM, AT(deny),     SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)  },
        { "egressProxy",           SHAPE_CUSTOM, AT(proxy),    SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)  },
        { "rules",                 SHAPE_CUSTOM, AT(rules),    SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_any)  },
        { "allow_internet_access", SHAPE_CUSTOM, AT(internet), SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag) },
};
static const Shape network_shape = SHAPE_BODY(network_fields);

static void e2b_network_body_done(NetworkBody *b) {
        json_decref(b->allow);
        json_decref(b->deny);
        json_decref(b->proxy);
        json_decref(b->rules);
}

/* Replaces the rules. Other network options from the creation (public traffic, host) stay. */
static json_t *e2b_network_merge(const json_t *before, const NetworkBody *b) {
        static const char *const ours[] = { "allowOut", "denyOut", "egressProxy", "rules" };
        json_t *j = before ? json_copy((json_t *) (uintptr_t) before) : json_object();

        for (size_t i = 0; i < ELEMENTSOF(ours); i++)
                (void) json_object_del(j, ours[i]);
        if (b->allow)
                (void) json_object_set(j, "allowOut", b->allow);
        if (b->deny)
                (void) json_object_set(j, "denyOut", b->deny);
        if (b->proxy)
                (void) json_object_set(j, "egressProxy", b->proxy);
        if (b->rules)
                (void) json_object_set(j, "rules", b->rules);
        return j;
}

static int make_policy(ApiRequest *q, const json_t *network, E2bInternet internet, Policy *ret) {
        const NetworkConfig *settings = &q->manager->settings->network;
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *ours = NULL, *policy = NULL;
        Error error = { 0 };
        int r = e2b_network_policy(network, internet, &ours, &error);

        if (r < 0)
                return e2b_errno(q, r, error.text);
        policy = json_pack("{s:O}", "network", ours);
        r = policy ? policy_parse(policy, "policy", NETWORK_SITE(settings), ret, &c) : -ENOMEM;
        return e2b_judge(q, r, &c);
}

static void e2b_network_forget(ApiRequest *q, bool answered) {
        gatekeeper_forget_policy(q->api->rooms.gatekeeper, q->sandbox_id, q);
}

static void e2b_network_on_set(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        (void) e2b_done(q, error ? error->code : 0, error ? error->text : NULL);
}

/* A sandbox of another surface gets no record. With a record, it would follow the rules of this surface, and
 * its ports would be public. */
static int e2b_network_remember(Sandbox *sb, const NetworkBody *b) {
        const E2bRecord *before = sb->spec.dialect ? e2b_record(sb) : NULL;
        _cleanup_json_ json_t *network = NULL;
        E2bRecord record;

        if (!sb->spec.dialect)
                return 0;
        if (!before)
                return -ENOMEM;
        network = e2b_network_merge(before->network, b);
        record = *before;
        record.network = network;
        record.no_internet = b->internet == E2B_OFF;
        return e2b_record_write(sb, &record);
}

static bool e2b_network_may_change(ApiRequest *q, const Sandbox *sb) {
        Error error = { 0 };

        if (allowance_check_policy_change(q->manager, &q->who, &sb->spec, &error) >= 0)
                return true;
        (void) e2b_error(q, 403, "%s", error.text);
        return false;
}

void e2b_sandbox_network(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        _cleanup_(e2b_network_body_done) NetworkBody b = { 0 };
        _cleanup_(policy_done) Policy policy = { 0 };
        _cleanup_json_ json_t *network = NULL;
        Error error = { 0 };
        int r;

        if (!sb || !e2b_network_may_change(q, sb) || e2b_read(q, &network_shape, &b) < 0)
                return;
        if (!q->api->rooms.gatekeeper || sb->spec.network == NETWORK_NONE || sb->spec.network == NETWORK_ISOLATED) {
                (void) e2b_error(q, 400, "the sandbox was created without network and cannot get one");
                return;
        }
        network = e2b_network_merge(NULL, &b);
        if (make_policy(q, network, b.internet == E2B_OFF ? E2B_INTERNET_NONE : q->manager->settings->e2b.internet, &policy) < 0)
                return;
        r = e2b_network_remember(sb, &b);
        q->destroy = e2b_network_forget;
        if (r >= 0)
                r = gatekeeper_set_policy(q->api->rooms.gatekeeper, &q->who, sb, &policy, e2b_network_on_set, q, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
}
