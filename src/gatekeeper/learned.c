/* learned.c: computes the smallest policy that would allow the traffic seen in learn mode. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gatekeeper/internal.h"

typedef struct Proposal {
        json_t *seen, *allow;
        json_t *last;       /* the object of the last plain request, for more methods */
        char last_host[EGRESS_DOMAIN_MAX];
        uint32_t last_port;
        bool plain;         /* HTTP without TLS */
} Proposal;

static const struct {
        const char *protocol;
        uint32_t port; /* the default, which the rule need not name */
} usual[] = { { "https", 443 }, { "http", 80 } };

static int learned_add_text(Proposal *p, const NetworkLearned *l) {
        const char *what = *l->host ? l->host : l->address;
        bool v6 = !*l->host && strchr(what, ':');
        char rule[EGRESS_DOMAIN_MAX + 64], port[16];
        json_t *before, *text;
        size_t i;

        (void) snprintf(port, sizeof(port), ":%u", l->port);
        for (size_t u = 0; u < ELEMENTSOF(usual); u++)
                if (strcmp(usual[u].protocol, l->protocol) == 0 && usual[u].port == l->port && *l->host)
                        port[0] = '\0';
        (void) snprintf(rule, sizeof(rule), "%s://%s%.250s%s%s", l->protocol, v6 ? "[" : "", what, v6 ? "]" : "", port);
        json_array_foreach(p->allow, i, before)
                if (json_is_string(before) && strcmp(json_string_value(before), rule) == 0)
                        return 0;
        text = json_string(rule);
        return json_array_append_new(p->allow, text) < 0 ? -ENOMEM : 0;
}

/* If methods were seen, the rule allows those and no others. Rows come by host, port and protocol. */
static int add_methods(Proposal *p, const NetworkLearned *l) {
        json_t *rule;

        if (p->last && p->last_port == l->port && strcmp(p->last_host, l->host) == 0 &&
                        strcmp(json_string_value(json_array_get(json_object_get(p->last, "protocols"), 0)), l->protocol) == 0)
                return json_array_append_new(json_object_get(p->last, "methods"), json_string(l->method)) < 0 ? -ENOMEM : 0;
        rule = json_pack("{s:s, s:[I], s:[s], s:[s]}", "domain", l->host, "ports", (json_int_t) l->port, "protocols", l->protocol, "methods",
                        l->method);
        if (!rule || json_array_append_new(p->allow, rule) < 0)
                return -ENOMEM;
        p->last = rule;
        p->last_port = l->port;
        (void) snprintf(p->last_host, sizeof(p->last_host), "%s", l->host);
        return 0;
}

static int learned_add(const NetworkLearned *l, void *userdata) {
        Proposal *p = userdata;
        json_t *seen = json_pack("{s:s, s:o, s:o, s:I, s:o, s:I}", "protocol", l->protocol, "host", json_text_or_null(*l->host ? l->host : NULL),
                        "address", json_text_or_null(*l->address ? l->address : NULL), "port", (json_int_t) l->port, "method",
                        json_text_or_null(*l->method ? l->method : NULL), "count", (json_int_t) l->count);

        if (!seen || json_array_append_new(p->seen, seen) < 0)
                return -ENOMEM;
        if (strcmp(l->protocol, "dns") == 0 || (!*l->host && !*l->address))
                return 0; /* a name that was looked up and then reached has a row of its own */
        p->plain |= strcmp(l->protocol, "http") == 0;
        return *l->method && *l->host ? add_methods(p, l) : learned_add_text(p, l);
}

int gatekeeper_learned(Gatekeeper *k, const Sandbox *sb, json_t **ret) {
        Proposal p = { .seen = json_array(), .allow = json_array() };
        int r;

        if (!p.seen || !p.allow)
                r = -ENOMEM;
        else
                r = store_learned_each(k->manager->store, sb->id, learned_add, &p);
        if (r < 0) {
                json_decref(p.seen);
                json_decref(p.allow);
                return r;
        }
        *ret = json_pack("{s:{s:s, s:o, s:b}, s:o}", "network", "mode", "egress", "allow", p.allow, "requireTls", !p.plain, "seen", p.seen);
        return *ret ? 0 : -ENOMEM;
}
