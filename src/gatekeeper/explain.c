/* explain.c: the verdict of a sandbox's policy and its later approvals on one URL. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "gatekeeper/internal.h"

static int take_grant(const NetworkGrant *g, void *userdata) {
        _cleanup_(egress_rule_done) EgressRule rule = { 0 };

        if (egress_rule_parse(g->rule, EGRESS_ALLOW, &rule, &(Error) { 0 }) < 0)
                return 0;
        return egress_grants_add(userdata, &rule) == -ENOMEM ? -ENOMEM : 0;
}

/* Explains a verdict. If a grant decided, the grants are explained as if they were the policy. */
static json_t *explain_answer(const EgressPolicy *p, const EgressGrants *grants, EgressVerdict v, const EgressQuestion *q) {
        bool granted = v.rule >= 0 && (size_t) v.rule >= p->n_rules;
        EgressPolicy view = *p;
        json_t *j;

        if (granted) {
                v.rule -= (int) p->n_rules;
                view.rules = grants->rules;
                view.n_rules = grants->n;
        }
        j = egress_explain_json(&view, &v, q);
        if (j)
                (void) json_object_set_new(j, "granted", json_boolean(granted));
        return j;
}

int gatekeeper_explain(Gatekeeper *k, const Sandbox *sb, const char *url, const char *method, json_t **ret, Error *reterr) {
        const NetworkConfig *c = &k->manager->settings->network;
        _cleanup_json_ json_t *network = sandbox_network_json(sb);
        JsonComplaints complaints = { 0 };
        EgressPolicy p = { 0 };
        EgressGrants grants = { 0 };
        EgressVerdict v;
        EgressUrl u;
        int r = egress_url_parse(url, method, &u, reterr);

        if (r >= 0)
                r = egress_policy_parse(network, "network", NETWORK_SITE(c), &p, &complaints);
        if (r >= 0)
                r = store_grant_each(k->manager->store, sb->id, sb->spec.tenant ? sb->spec.tenant : "", sb->spec.profile, take_grant, &grants);
        if (r >= 0)
                r = egress_grants_finish(&grants);
        if (r >= 0) {
                v = egress_decide_with(&p, &grants, c->reachable, c->n_reachable, &u.question);
                *ret = explain_answer(&p, &grants, v, &u.question);
                r = *ret ? 0 : -ENOMEM;
        }
        json_complaints_done(&complaints);
        egress_grants_done(&grants);
        egress_policy_done(&p);
        return r;
}
