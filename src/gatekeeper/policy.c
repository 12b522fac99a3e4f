/* policy.c: changes the network part of a policy while its sandbox runs. The row is written first: the gate
 * gets its policy from it, at once and after the death of either process. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/config.h"
#include "gatekeeper/internal.h"

static int gatekeeper_policy_check_change(Gatekeeper *k, const Sandbox *sb, const EgressPolicy *to, Error *reterr) {
        const char *before = network_mode_to_string((NetworkMode) sb->spec.network), *after = network_mode_to_string(to->mode);
        const char *group = sb->spec.group ? sb->spec.group : "";

        if (sandbox_is_ending(sb))
                return error_set(reterr, -ESTALE, "Sandbox not running (state: %s)", sandbox_status_name(sb->status));
        if (network_shape(sb->spec.network) != network_shape((uint8_t) to->mode) || to->mode == NETWORK_HOST)
                return error_set(reterr, -EINVAL, "its network is \"%s\" and cannot be changed to \"%s\": create another sandbox", before,
                                after);
        if (to->mode == NETWORK_ISOLATED && strcmp(group, to->group ? to->group : "") != 0)
                return error_set(reterr, -EINVAL, "it is in the group \"%s\", and cannot join another one: create another sandbox", group);
        return gatekeeper_check_policy(k, to, reterr);
}

int gatekeeper_check_policy(const Gatekeeper *k, const EgressPolicy *p, Error *reterr) {
        bool allowed = k->manager->settings->network.allow_open;

        if (p->mode == NETWORK_HOST)
                return error_set(reterr, -EOPNOTSUPP, "network mode \"host\" is for `cove run` only: sandboxes of a daemon never share its network");
        if (p->mode == NETWORK_OPEN && !allowed)
                return error_set(reterr, -EPERM, "network mode \"open\" is not allowed on this machine (network.allowOpen in cove.yaml)");
        if (p->learn && !allowed)
                return error_set(reterr, -EPERM, "learning lets everything out that \"open\" would, which is not allowed on this machine "
                                                 "(network.allowOpen in cove.yaml)");
        return 0;
}

/* Replaces the network part, and keeps the rest of the policy. */
static char *gatekeeper_policy_merge(const Sandbox *sb, const Policy *policy) {
        _cleanup_json_ json_t *whole = sb->spec.policy ? json_loads(sb->spec.policy, 0, NULL) : NULL;
        _cleanup_json_ json_t *news = policy_to_json(policy);
        static const char *const ours[] = { "network", "credentials" };

        if (!news)
                return NULL;
        if (!whole)
                return json_dumps(news, JSON_COMPACT);
        for (size_t i = 0; i < ELEMENTSOF(ours); i++) {
                json_t *value = json_object_get(news, ours[i]);

                if (value)
                        (void) json_object_set(whole, ours[i], value);
                else
                        (void) json_object_del(whole, ours[i]);
        }
        return json_dumps(whole, JSON_COMPACT);
}

static int gatekeeper_policy_write_down(Sandbox *sb) {
        Store *store = sb->manager->store;
        int r;

        (void) store_begin(store);
        r = store_sandbox_update_all(store, sb);
        if (r >= 0)
                sandbox_event(sb, "policy.changed", NULL, "network: %s", network_mode_to_string((NetworkMode) sb->spec.network));
        return store_end(store, r);
}

int gatekeeper_set_policy(Gatekeeper *k, const Principal *who, Sandbox *sb, const Policy *policy, SandboxDone done, void *userdata, Error *reterr) {
        Seat *s = seat_find(k, sb->id);
        uint8_t mode = sb->spec.network;
        char *text, *before = sb->spec.policy;
        int r = policy->n_credentials > 0 ? principal_check(who, MAY_SECRETS, reterr) : 0;

        if (r >= 0)
                r = gatekeeper_policy_check_change(k, sb, &policy->network, reterr);
        for (size_t i = 0, all = 0; i < policy->n_credentials && r >= 0; i++)
                r = credential_check(k, sb->spec.tenant, policy->credentials[i].secret, &all, reterr);
        if (r < 0)
                return r;
        if (!s && policy->n_credentials > 0)
                return error_set(reterr, -EINVAL, "credentials need a way out: its network is \"none\"");
        text = gatekeeper_policy_merge(sb, policy);
        if (!text)
                return error_set(reterr, -ENOMEM, "out of memory");
        sb->spec.policy = text;
        sb->spec.network = (uint8_t) policy->network.mode;
        r = gatekeeper_policy_write_down(sb);
        if (r < 0) {
                sb->spec.policy = before;
                sb->spec.network = mode;
                free(text);
                return error_set(reterr, r, "cannot save the policy: %m");
        }
        earlier_changed(k, sb, before);
        free(before);
        if (!s) { /* the sandbox has no network: nothing gets out, whatever the policy says */
                done(sb, NULL, userdata);
                return 0;
        }
        r = seat_set_policy(s, done, userdata);
        return r < 0 ? error_set(reterr, r, "out of memory") : 0;
}

void gatekeeper_forget_policy(Gatekeeper *k, const char *sandbox, void *userdata) {
        Seat *s = seat_find(k, sandbox);

        if (s)
                seat_forget_waiter(s, userdata);
}
