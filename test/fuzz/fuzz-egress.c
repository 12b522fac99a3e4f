/* Any policy: it is read or complained about; what was read is written, read again as the same, and answers every question in words. */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>

#include "policy/policy.h"

static void ask(const EgressPolicy *p, const EgressQuestion *q) {
        EgressVerdict v = egress_decide(p, NULL, 0, q), again = egress_decide(p, NULL, 0, q);
        char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX];

        MUST(v.action == again.action && v.reason == again.reason && v.rule == again.rule && v.inspect == again.inspect);
        MUST(v.rule < (int) p->n_rules && v.rule >= -1 && v.reason < _EGRESS_REASON_MAX);
        MUST(v.action != EGRESS_ALLOW || p->mode == NETWORK_EGRESS || p->mode == NETWORK_OPEN);
        MUST(!q->has_address || !ip_special(&q->address) || v.action == EGRESS_DENY);
        egress_explain(p, &v, q, text, cure);
        MUST(text[0] && strlen(text) < sizeof(text) && strlen(cure) < sizeof(cure) && (v.action == EGRESS_DENY) == (cure[0] != '\0'));
}

/* About what its own rules name, by every protocol. */
static void ask_all(const EgressPolicy *p) {
        static const EgressProtocol protocols[] = { EGRESS_TCP, EGRESS_UDP, EGRESS_HTTP, EGRESS_HTTPS, EGRESS_DNS };

        for (size_t i = 0; i < p->n_rules && i < 16; i++)
                for (size_t k = 0; k < sizeof(protocols) / sizeof(protocols[0]); k++) {
                        const EgressRule *r = p->rules + i;
                        EgressQuestion q = { .protocol = protocols[k], .port = r->n_ports > 0 ? r->ports[0].first : 443 };

                        if (r->domain)
                                q.host = r->domain[0] == '*' ? "a.example" : r->domain;
                        else {
                                q.has_address = true;
                                q.address = r->range.base;
                        }
                        if (protocols[k] == EGRESS_DNS && !q.host)
                                continue;
                        ask(p, &q);
                        q.method = "GET";
                        q.path = r->paths ? r->paths[0] : "/";
                        ask(p, &q);
                }
}

static void check_rules(const EgressPolicy *p) {
        for (size_t i = 0; i < p->n_rules; i++) {
                const EgressRule *r = p->rules + i;

                MUST(r->text && r->protocols && !(r->methods && !*r->methods) && !(r->paths && !*r->paths));
                for (size_t k = 0; k < r->n_ports; k++)
                        MUST(r->ports[k].first > 0 && r->ports[k].first <= r->ports[k].last && (k == 0 || r->ports[k].first > r->ports[k - 1].last));
                if (r->text[0] != '{') {
                        EgressRule again;

                        MUST(egress_rule_parse(r->text, r->action, &again, NULL) == 0);
                        MUST(strcmp(again.text, r->text) == 0 && again.protocols == r->protocols && again.n_ports == r->n_ports);
                        egress_rule_done(&again);
                }
        }
}

static bool is_good(json_t *j, Policy *ret) {
        JsonComplaints c = { 0 };
        bool good;

        MUST(policy_parse(j, "policy", NULL, ret, &c) == 0);
        good = !json_has_complaints(&c);
        json_complaints_done(&c);
        return good;
}

static void check_again(const Policy *once) {
        json_t *first = policy_to_json(once), *read, *second;
        char *text = json_dumps(first, 0);
        Policy twice;

        MUST(text);
        read = json_loads(text, 0, NULL);
        MUST(read && is_good(read, &twice));
        second = policy_to_json(&twice);
        MUST(json_equal(first, second));
        policy_done(&twice);
        json_decref(first);
        json_decref(read);
        json_decref(second);
        free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        json_t *j = json_loadb((const char *) data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        char host[EGRESS_DOMAIN_MAX], host_again[EGRESS_DOMAIN_MAX], path[256], path_again[256];
        Policy p;

        if (egress_host_normalise((const char *) data, size, host) >= 0)
                MUST(egress_host_normalise(host, strlen(host), host_again) == 0 && strcmp(host, host_again) == 0);
        if (egress_path_normalise((const char *) data, size, path, sizeof(path)) >= 0)
                MUST(path[0] == '/' && egress_path_normalise(path, strlen(path), path_again, sizeof(path_again)) == 0 && strcmp(path, path_again) == 0);
        if (!j)
                return 0;
        if (is_good(j, &p)) {
                check_rules(&p.network);
                check_again(&p);
                ask_all(&p.network);
        }
        policy_done(&p);
        json_decref(j);
        return 0;
}
