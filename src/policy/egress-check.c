/* egress-check.c: complains about policies that contradict themselves, or want what only the operator can
 * grant. */

#include <stdio.h>
#include <string.h>

#include "policy/internal.h"

static const char *const lists[] = { [EGRESS_DENY] = "deny", [EGRESS_ALLOW] = "allow", [EGRESS_ASK] = "ask" };

const char *egress_action_list(EgressAction a) {
        return lists[a];
}

size_t egress_rule_place(const EgressPolicy *p, size_t index) {
        const EgressRule *rules = p->rules, *r = rules + index;
        size_t n = p->packages[r->action] && !r->packages; /* the word "packages" comes first */

        for (size_t i = 0; i < index && i < p->n_rules; i++)
                n += rules[i].action == r->action && !rules[i].packages;
        return n;
}

/* The outer rule matches everything that the inner one matches. */
static bool rule_covers(const EgressRule *outer, const EgressRule *inner) {
        unsigned carried = outer->protocols | (outer->protocols & EGRESS_TCP ? EGRESS_WEB : 0);

        if (egress_rule_is_conditional(outer) || inner->protocols & ~carried || !outer->domain != !inner->domain)
                return false;
        if (outer->domain ? !egress_pattern_covers(outer->domain, inner->domain) : !ip_range_within(&inner->range, &outer->range))
                return false;
        return egress_ports_cover(outer, inner);
}

typedef struct Checker {
        PolicyReader *reader;
        const char *prefix;
        const EgressPolicy *policy;
        const EgressPlaces *places;
} Checker;

static const char *egress_check_place_of(const Checker *c, size_t i, char at[static EGRESS_POSITION_MAX]) {
        return policy_position(at, "%s.%s[%u]", c->prefix, lists[c->policy->rules[i].action], c->places->at[i]);
}

static bool has_rule(const EgressPolicy *p, EgressAction action) {
        if (p->packages[action])
                return true;
        for (size_t i = 0; i < p->n_rules; i++)
                if (p->rules[i].action == action)
                        return true;
        return false;
}

static void egress_check_mode(const Checker *c) {
        const EgressPolicy *p = c->policy;
        char at[EGRESS_POSITION_MAX];

        (void) policy_position(at, "%s.mode", c->prefix);
        if ((p->mode == NETWORK_NONE || p->mode == NETWORK_ISOLATED) && (p->n_rules > 0 || egress_policy_names_packages(p)))
                policy_complain(c->reader, at, "'%s' has no way out, and there are rules for one: set \"mode\": \"egress\" or take the rules away",
                                network_mode_to_string(p->mode));
        if (p->mode == NETWORK_OPEN && (has_rule(p, EGRESS_ALLOW) || has_rule(p, EGRESS_ASK)))
                policy_complain(c->reader, at,
                                "'open' lets everything out, so that allow and ask say nothing: set \"mode\": \"egress\", or keep \"deny\" only");
        if (p->group && p->mode != NETWORK_ISOLATED)
                policy_complain(c->reader, policy_position(at, "%s.group", c->prefix), "a group is for \"mode\": \"isolated\", and the mode is '%s'",
                                network_mode_to_string(p->mode));
        if (p->learn && p->mode != NETWORK_EGRESS)
                policy_complain(c->reader, policy_position(at, "%s.learn", c->prefix), "learning is for \"mode\": \"egress\", and the mode is '%s'",
                                network_mode_to_string(p->mode));
}

static void egress_check_tls(const Checker *c, size_t i) {
        const EgressRule *r = c->policy->rules + i;
        char at[EGRESS_POSITION_MAX];

        if (c->policy->require_tls && r->action != EGRESS_DENY && r->protocols == EGRESS_HTTP)
                policy_complain(c->reader, egress_check_place_of(c, i, at),
                                "\"%.200s\" is plain HTTP, which requireTls forbids: write https://, or set \"requireTls\": false", r->text);
}

/* The whole range is special, and the operator lists no part of it as reachable. */
static bool is_out_of_reach(const PolicyReader *reader, const IpRange *range) {
        if (!ip_range_special(range))
                return false;
        for (size_t i = 0; i < reader->site->n_reachable; i++)
                if (ip_range_within(range, reader->site->reachable + i) || ip_range_within(reader->site->reachable + i, range))
                        return false;
        return true;
}

static void check_reach(const Checker *c, size_t i) {
        const EgressRule *r = c->policy->rules + i;
        char at[EGRESS_POSITION_MAX], range[64];

        if (r->domain || r->action == EGRESS_DENY || !is_out_of_reach(c->reader, &r->range))
                return;
        ip_range_format(&r->range, range);
        policy_complain(c->reader, egress_check_place_of(c, i, at), "%s is out of reach (%s): only the operator can open it, with network.reachable: [\"%s\"] in cove.yaml",
                        range, ip_range_special(&r->range), range);
}

/* Complains about a rule that a rule of another list makes void. */
static void check_void(const Checker *c, size_t i) {
        const EgressRule *rules = c->policy->rules, *r = rules + i;
        char at[EGRESS_POSITION_MAX], other[EGRESS_POSITION_MAX];

        if (r->action == EGRESS_DENY)
                return;
        for (size_t k = 0; k < c->policy->n_rules; k++) {
                if (rules[k].packages || rules[k].action == r->action || rules[k].action == EGRESS_ASK || !rule_covers(rules + k, r))
                        continue;
                (void) egress_check_place_of(c, i, at);
                if (rules[k].action == EGRESS_DENY)
                        policy_complain(c->reader, at, "\"%.200s\" is void: %s \"%.200s\" denies all of it; keep one of them", r->text,
                                        egress_check_place_of(c, k, other), rules[k].text);
                else
                        policy_complain(c->reader, at, "\"%.200s\" is never asked: %s \"%.200s\" allows all of it; keep one of them", r->text,
                                        egress_check_place_of(c, k, other), rules[k].text);
                return;
        }
}

void egress_policy_check(PolicyReader *reader, const char *prefix, const EgressPolicy *p, const EgressPlaces *places) {
        Checker c = { reader, prefix, p, places };

        egress_check_mode(&c);
        for (size_t i = 0; i < p->n_rules; i++) {
                if (p->rules[i].packages) /* the user did not write these rules: a policy may deny a part of "packages" again */
                        continue;
                egress_check_tls(&c, i);
                check_reach(&c, i);
                check_void(&c, i);
        }
}
