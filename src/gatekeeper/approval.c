/* approval.c: questions of the gate, and people's answers. Both are stored at once, so an answer counts even
 * if the gate or coved dies. A question of a gate that has died has no waiter any more, and is closed. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "config/config.h"
#include "core/allowance.h"
#include "core/secret.h"
#include "gatekeeper/internal.h"

#define APPROVALS_KEPT 10000
#define ID_DIGITS      16
#define RULE_MAX       512

static const char *const approval_scopes[_APPROVAL_SCOPE_MAX] = {
        [APPROVAL_ONCE] = "once",
        [APPROVAL_SANDBOX] = "sandbox",
        [APPROVAL_PROFILE] = "profile",
};
static const ShapeNames approval_scope_names = SHAPE_WORDS(approval_scopes);

const char *approval_scope_to_string(ApprovalScope s) {
        return shape_name(&approval_scope_names, (int) s);
}

int approval_scope_from_string(const char *text) {
        return shape_value(&approval_scope_names, text);
}

static const char *approval_text_of(json_t *event, const char *key) {
        return json_string_value(json_object_get(event, key));
}

/* Writes it as a rule: a name or an address; an IPv6 address stands in brackets. */
static void make_rule(json_t *event, char ret[static RULE_MAX]) {
        const char *protocol = approval_text_of(event, "protocol"), *host = approval_text_of(event, "host"), *address = approval_text_of(event, "address");
        const char *what = host ? host : address ? address : "";
        bool v6 = !host && strchr(what, ':');

        if (!protocol || strcmp(protocol, "dns") == 0) { /* the lookup of the name was asked about: for any use of it */
                (void) snprintf(ret, RULE_MAX, "%.250s", what);
                return;
        }
        (void) snprintf(ret, RULE_MAX, "%s://%s%.250s%s:%u", protocol, v6 ? "[" : "", what, v6 ? "]" : "",
                        (unsigned) json_integer_value(json_object_get(event, "port")));
}

void approval_asked(Seat *s, json_t *event) {
        const SandboxSpec *spec = &s->sandbox->spec;
        const char *ask = approval_text_of(event, "ask"), *object = approval_text_of(event, "object");
        char rule[RULE_MAX], text[RULE_MAX];
        StoreApproval row = {
                .tenant = spec->tenant ? spec->tenant : (char *) "",
                .profile = spec->profile,
                .object = rule,
                .rule = rule,
                .status = "open",
                .asked_at = clock_wall_usec(),
                .expires_at = (usec_t) json_integer_value(json_object_get(event, "expires")),
        };
        int r;

        if (!ask || strlen(ask) >= sizeof(row.ask))
                return;
        make_rule(event, rule);
        if (object)
                row.object = (char *) object;
        memcpy(row.id, "ap-", 3);
        secret_random_hex(row.id + 3, ID_DIGITS);
        memcpy(row.ask, ask, strlen(ask));
        memcpy(row.sandbox, s->id, sizeof(row.sandbox));
        r = store_approval_add(s->keeper->manager->store, &row, APPROVALS_KEPT);
        if (r < 0) {
                log_warning("sandbox %s: cannot save its request for approval, which therefore cannot be answered: %s", s->id, strerror(-r));
                return;
        }
        sandbox_event(s->sandbox, "network.asked", NULL, "%s wants to reach %.300s; answer with: cove approvals allow %s", s->id, row.object, row.id);
        (void) snprintf(text, sizeof(text), "%s asks for %.300s", row.id, row.object);
        observe_network(s->keeper->manager, s->sandbox, &(NetworkNews) { .kind = "asked", .text = text, .count = 1 });
}

static void close_row(Gatekeeper *k, StoreApproval *row, const char *status) {
        row->answered_at = clock_wall_usec();
        (void) snprintf(row->status, sizeof(row->status), "%s", status);
        store_may_lose(store_approval_update(k->manager->store, row), "that a question has expired");
}

void approval_expired(Gatekeeper *k, json_t *event) {
        _cleanup_(store_approval_done) StoreApproval row = { 0 };
        const char *ask = approval_text_of(event, "ask");

        if (ask && store_approval_get_ask(k->manager->store, ask, &row) >= 0 && strcmp(row.status, "open") == 0)
                close_row(k, &row, "expired");
}

void approvals_gate_is_fresh(Gatekeeper *k) {
        int r = store_approval_close(k->manager->store, /* sandbox= */ NULL, "expired", /* due= */ USEC_INFINITY, clock_wall_usec());

        if (r < 0)
                log_warning("cannot close approvals of an earlier gate, ignoring: %s", strerror(-r));
}

/* Answering. */

static bool approval_may_see(const Principal *who, const StoreApproval *row) {
        return principal_sees(who, row->tenant);
}

/* The policy of a profile is the operator's decision, "ask" too: a principal that may not change the policy
 * may not answer in the operator's place. */
static int approval_check_right(const Gatekeeper *k, const Principal *who, const StoreApproval *row, Error *reterr) {
        int r = allowance_check_policy_change(k->manager, who, &(SandboxSpec) { .profile = row->profile }, reterr);

        return r < 0 ? error_prefix(reterr, r, "what is asked cannot be allowed") : 0;
}

static int approval_check(Gatekeeper *k, const Principal *who, const char *id, const StoreApproval *row, ApprovalScope scope, bool allow, Error *reterr) {
        Seat *s = seat_find(k, row->sandbox);

        if (!approval_may_see(who, row))
                return error_set(reterr, -ENOENT, "there is no approval '%s'", id);
        if (strcmp(row->status, "open") != 0 && strcmp(row->status, "expired") != 0)
                return error_set(reterr, -EALREADY, "it was answered already: %s", row->status);
        if (strcmp(row->status, "expired") == 0 || (row->expires_at > 0 && row->expires_at <= clock_wall_usec()))
                return error_set(reterr, -ETIME, "it has expired: the connection does not wait any more");
        if (s && !link_is_up(k))
                return error_set(reterr, -EAGAIN, "there is no cove-gate at the moment: try again");
        if (!s || !s->at_gate)
                return error_set(reterr, -ETIME, "its sandbox is not connected any more");
        if (allow && scope == APPROVAL_PROFILE && !row->profile)
                return error_set(reterr, -EINVAL, "the sandbox has no profile for which it could be granted: take scope \"sandbox\"");
        if (allow && scope == APPROVAL_PROFILE && !principal_may_loosen(who))
                return error_set(reterr, -EPERM, "a key that may not loosen limits cannot grant something to all sandboxes of a profile");
        return allow ? approval_check_right(k, who, row, reterr) : 0;
}

static int write_answer(Gatekeeper *k, StoreApproval *row, bool allow, ApprovalScope scope) {
        Store *store = k->manager->store;
        const NetworkGrant grants[] = {
                { .sandbox = row->sandbox, .rule = row->rule, .at = row->answered_at },
                { .tenant = row->tenant, .profile = row->profile, .rule = row->rule, .at = row->answered_at },
        };
        int r;

        (void) store_begin(store);
        r = store_approval_update(store, row);
        if (r >= 0 && allow && scope != APPROVAL_ONCE)
                r = store_grant_add(store, &grants[0]);
        if (r >= 0 && allow && scope == APPROVAL_PROFILE)
                r = store_grant_add(store, &grants[1]);
        r = store_end(store, r);
        if (r >= 0)
                store_may_lose(store_sync(store), "an answer, so that it outlives the machine");
        return r;
}

static void approval_tell(Gatekeeper *k, const StoreApproval *row, bool allow, ApprovalScope scope) {
        json_t *message = json_pack("{s:s, s:s, s:b}", "do", "answer", "ask", row->ask, "allow", (int) allow);

        if (message && allow && scope != APPROVAL_ONCE)
                (void) json_object_set_new(message, "grant", json_string(row->rule));
        (void) link_send(k, message, NULL, 0);
}

int gatekeeper_answer(Gatekeeper *k, const Principal *who, const char *approval, bool allow, ApprovalScope scope, Error *reterr) {
        _cleanup_(store_approval_done) StoreApproval row = { 0 };
        char text[RULE_MAX];
        Seat *s;
        int r;

        r = store_approval_get(k->manager->store, approval, &row);
        if (r == -ENOENT)
                return error_set(reterr, r, "there is no approval '%.64s'", approval);
        if (r >= 0)
                r = approval_check(k, who, approval, &row, scope, allow, reterr);
        if (r < 0)
                return r;
        row.answered_at = clock_wall_usec();
        row.by = strdup(who->key_id && *who->key_id ? who->key_id : "admin");
        (void) snprintf(row.status, sizeof(row.status), "%s", allow ? "allowed" : "denied");
        (void) snprintf(row.scope, sizeof(row.scope), "%s", approval_scope_to_string(scope));
        r = write_answer(k, &row, allow, scope);
        if (r < 0)
                return error_set(reterr, r, "cannot save the answer: %m");
        approval_tell(k, &row, allow, scope);
        s = seat_find(k, row.sandbox);
        sandbox_event(s->sandbox, "network.answered", NULL, "%.300s: %s (%s)", row.object, row.status, row.scope);
        (void) snprintf(text, sizeof(text), "%s: %.300s is %s (%s) by %.40s", row.id, row.object, row.status, row.scope, row.by ? row.by : "");
        observe_network(k->manager, s->sandbox, &(NetworkNews) { .kind = "answered", .text = text, .count = 1 });
        return 0;
}

int gatekeeper_approval_each(const Manager *m, const char *tenant, const char *status, uint64_t before, unsigned limit, ApprovalRowEach each, void *userdata) {
        store_may_lose(store_approval_close(m->store, NULL, "expired", clock_wall_usec(), clock_wall_usec()), "that questions have expired");
        return store_approval_each(m->store, tenant, status, before, limit, each, userdata);
}

int gatekeeper_approval_find(const Manager *m, const char *id, ApprovalRowEach each, void *userdata) {
        _cleanup_(store_approval_done) StoreApproval row = { 0 };
        int r = store_approval_get(m->store, id, &row);

        return r < 0 ? r : each(&row, userdata);
}
