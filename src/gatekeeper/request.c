/* request.c: builds the messages to the gate about one sandbox. All content is read again each time, from the
 * sandbox's row and the store. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "gatekeeper/internal.h"

static json_t *policy_json(const Sandbox *sb) {
        return sb->spec.policy ? json_loads(sb->spec.policy, 0, NULL) : NULL;
}

/* If the policy does not limit the requests of an execution, the profile's limit applies. */
static void gatekeeper_request_limit(const Sandbox *sb, json_t *network) {
        const Profile *p = sb->spec.profile ? profile_find(sb->manager->settings, sb->spec.profile) : NULL;

        if (!p || p->network_requests == 0 || network_shape(sb->spec.network) != SPAWN_NETWORK_GATED)
                return;
        if (json_integer_value(json_object_get(network, "maxRequests")) == 0)
                (void) json_object_set_new(network, "maxRequests", json_integer((json_int_t) p->network_requests));
}

json_t *sandbox_network_json(const Sandbox *sb) {
        _cleanup_json_ json_t *policy = policy_json(sb);
        json_t *network = json_incref(json_object_get(policy, "network"));

        if (!json_is_object(network)) {
                json_decref(network);
                network = json_object();
        }
        (void) json_object_set_new(network, "mode", json_string(network_mode_to_string((NetworkMode) sb->spec.network)));
        gatekeeper_request_limit(sb, network);
        return network;
}

static int add_grant(const NetworkGrant *g, void *userdata) {
        return json_array_append_new(userdata, json_string(g->rule)) < 0 ? -ENOMEM : 0;
}

json_t *request_grants(Seat *s) {
        const SandboxSpec *spec = &s->sandbox->spec;
        json_t *list = json_array();

        if (list)
                (void) store_grant_each(s->keeper->manager->store, s->id, spec->tenant ? spec->tenant : "", spec->profile, add_grant, list);
        return list;
}

int request_make(Seat *s, const char *what, uint64_t serial, json_t **ret, Error *reterr) {
        const Sandbox *sb = s->sandbox;
        _cleanup_json_ json_t *credentials = NULL;
        json_t *message;
        int r;

        r = credentials_for_gate(s, &credentials, reterr);
        if (r < 0)
                return r;
        message = json_pack("{s:s, s:I, s:s, s:s, s:o, s:o, s:{s:I}}", "do", what, "serial", (json_int_t) serial, "id", sb->id, "mode",
                        network_mode_to_string((NetworkMode) sb->spec.network), "network", sandbox_network_json(sb), "grants",
                        request_grants(s), "used", "bytes", (json_int_t) (s->use.total.up_bytes + s->use.total.down_bytes));
        if (!message)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (egress_network_names_packages(json_object_get(message, "network")))
                (void) json_object_set_new(message, "packages", gatekeeper_settings_strings(&sb->manager->settings->network.packages_rules));
        if (credentials)
                (void) json_object_set(message, "credentials", credentials);
        if (s->group)
                (void) json_object_set_new(message, "names", group_names(s->group));
        *ret = message;
        return 0;
}
