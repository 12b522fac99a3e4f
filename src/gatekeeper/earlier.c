/* earlier.c: policies that an earlier version accepted and this one would refuse. They still apply, and the
 * operator is told which they are.
 *
 * There are two kinds: rules with more paths than a new policy may have (egress_policy_check_given()), which
 * cost the gate time; and credentials without a list of headers, for which the guest once chose the header
 * (credential.c limits it). Both end when the policy is set again. */

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "config/config.h"
#include "core/ailment.h"
#include "gatekeeper/internal.h"

#define AILMENT "policy"

static bool find_paths(const Gatekeeper *k, json_t *network, Error *ret) {
        const NetworkConfig *c = &k->manager->settings->network;
        _cleanup_(json_complaints_done) JsonComplaints complaints = { 0 };
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };

        return egress_policy_parse(network, "network", NETWORK_SITE(c), &p, &complaints) >= 0 && egress_policy_check_given(&p, ret) < 0;
}

static bool find_credential(json_t *credentials, Error *ret) {
        json_t *credential;
        size_t i;

        json_array_foreach(credentials, i, credential)
                if (credential_is_earlier(credential)) {
                        (void) error_set(ret, -EINVAL, "names no \"headers\" for its credential %s, which is for " CREDENTIAL_EARLIER_HEADERS " therefore",
                                        json_string_value(json_object_get(credential, "env")));
                        return true;
                }
        return false;
}

typedef struct EarlierSearch {
        bool quiet;
        size_t n;
        char first[160];
} EarlierSearch;

static void note(EarlierSearch *s, const char *kind, const char *name, const Error *error) {
        if (!s->quiet)
                log_warning("%s %s: its policy is from an earlier version and still applies: it %s; set it again", kind, name, error->text);
        if (s->n++ == 0)
                (void) snprintf(s->first, sizeof(s->first), "%.16s %.32s, which %.100s", kind, name, error->text);
}

/* Returns whether the policy is one of these. */
static bool look_at(const Gatekeeper *k, const char *kind, const char *name, const char *text, EarlierSearch *s) {
        _cleanup_json_ json_t *policy = text ? json_loads(text, 0, NULL) : NULL;
        size_t before = s->n;
        Error error;

        if (find_credential(json_object_get(policy, "credentials"), &error))
                note(s, kind, name, &error);
        if (find_paths(k, json_object_get(policy, "network"), &error))
                note(s, kind, name, &error);
        return s->n > before;
}

static void earlier_look_at_all(Gatekeeper *k, bool quiet) {
        const Config *c = k->manager->settings;
        EarlierSearch s = { .quiet = quiet };
        Sandbox *sb, *next;

        for (size_t i = 0; i < c->n_profiles; i++)
                (void) look_at(k, "profile", c->profiles[i].name, c->profiles[i].policy, &s);
        HASH_ITER(hh, k->manager->sandboxes, sb, next)
                if (sandbox_has_network(sb) && !sandbox_is_ending(sb))
                        (void) look_at(k, "sandbox", sb->id, sb->spec.policy, &s);
        k->has_earlier = s.n > 0;
        if (s.n > 0)
                manager_ail(k->manager, AILMENT, /* ill= */ false, "policies from an earlier version must be set again, the log names all of them: that of %s", s.first);
        else
                manager_heal(k->manager, AILMENT);
}

void earlier_look(Gatekeeper *k) {
        earlier_look_at_all(k, /* quiet= */ false);
}

void earlier_changed(Gatekeeper *k, const Sandbox *sb, const char *before) {
        EarlierSearch s = { .quiet = true };

        if (look_at(k, "sandbox", sb->id, sb->spec.policy, &s) || (k->has_earlier && look_at(k, "sandbox", sb->id, before, &s)))
                earlier_look_at_all(k, /* quiet= */ true);
}
