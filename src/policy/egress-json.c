/* egress-json.c: writes the "network" object: normalised, with every default, so that parsing it gives the
 * same policy. */

#include "policy/internal.h"

#define BYTES_PER_MBIT 125000

static json_t *write_rules(const EgressPolicy *p, EgressAction action) {
        json_t *list = json_array();

        if (p->packages[action])
                (void) json_array_append_new(list, json_string(EGRESS_PACKAGES));
        for (size_t i = 0; i < p->n_rules; i++)
                if (p->rules[i].action == action && !p->rules[i].packages)
                        (void) json_array_append_new(list, egress_rule_to_json(p->rules + i));
        return list;
}

/* Writes a whole number as 5, and not as 5.0. */
static json_t *egress_json_write_scaled(uint64_t x, uint64_t unit) {
        return x % unit == 0 ? json_integer((json_int_t) (x / unit)) : json_real((double) x / (double) unit);
}

static json_t *write_seconds(usec_t usec) {
        return egress_json_write_scaled(usec, USEC_PER_SEC);
}

static json_t *write_rate(const EgressPolicy *p) {
        json_t *object = json_object();

        (void) json_object_set_new(object, "up", egress_json_write_scaled(p->up_bytes_per_sec, BYTES_PER_MBIT));
        (void) json_object_set_new(object, "down", egress_json_write_scaled(p->down_bytes_per_sec, BYTES_PER_MBIT));
        return object;
}

json_t *egress_policy_to_json(const EgressPolicy *p) {
        json_t *object = json_object();

        (void) json_object_set_new(object, "mode", json_string(network_mode_to_string(p->mode)));
        if (p->group)
                (void) json_object_set_new(object, "group", json_string(p->group));
        (void) json_object_set_new(object, "allow", write_rules(p, EGRESS_ALLOW));
        (void) json_object_set_new(object, "deny", write_rules(p, EGRESS_DENY));
        (void) json_object_set_new(object, "ask", write_rules(p, EGRESS_ASK));
        (void) json_object_set_new(object, "askTimeoutSeconds", write_seconds(p->ask_timeout_usec));
        (void) json_object_set_new(object, "requireTls", json_boolean(p->require_tls));
        (void) json_object_set_new(object, "maxRequestBytes", json_integer((json_int_t) p->request_bytes_max));
        (void) json_object_set_new(object, "maxResponseBytes", json_integer((json_int_t) p->response_bytes_max));
        (void) json_object_set_new(object, "requestTimeoutSeconds", write_seconds(p->request_timeout_usec));
        (void) json_object_set_new(object, "maxRequests", json_integer((json_int_t) p->requests_max));
        (void) json_object_set_new(object, "mbps", write_rate(p));
        (void) json_object_set_new(object, "maxBytes", json_integer((json_int_t) p->total_bytes_max));
        (void) json_object_set_new(object, "inspect", json_string(p->inspect_all ? "always" : "auto"));
        (void) json_object_set_new(object, "allowEncryptedHello", json_boolean(p->allow_encrypted_hello));
        (void) json_object_set_new(object, "learn", json_boolean(p->learn));
        return object;
}
