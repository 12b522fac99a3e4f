/* ports.c: ports, and ranges of them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "policy/internal.h"

#define PORT_MAX 65535

int egress_ports_parse(const char *text, size_t size, EgressPorts *ret) {
        char copy[16];
        char *dash;
        uint64_t first, last;

        if (size >= sizeof(copy) || memchr(text, '\0', size))
                return -EINVAL;
        memcpy(copy, text, size);
        copy[size] = '\0';
        dash = strchr(copy, '-');
        if (dash)
                *dash++ = '\0';
        if (parse_uint64(copy, 1, PORT_MAX, &first) < 0)
                return -EINVAL;
        last = first;
        if (dash && parse_uint64(dash, first, PORT_MAX, &last) < 0)
                return -EINVAL;
        *ret = (EgressPorts) { (uint16_t) first, (uint16_t) last };
        return 0;
}

int egress_rule_add_ports(EgressRule *r, EgressPorts ports) {
        if (ARRAY_EXTEND(r->ports, r->n_ports) < 0)
                return -ENOMEM;
        r->ports[r->n_ports++] = ports;
        return 0;
}

static int compare_ports(const void *a, const void *b) {
        const EgressPorts *x = a, *y = b;

        return (x->first > y->first) - (x->first < y->first);
}

/* Joins the ranges. All ports are stored as none. */
void egress_ports_join(EgressRule *r) {
        size_t n = 0;

        if (r->n_ports == 0)
                return;
        qsort(r->ports, r->n_ports, sizeof(*r->ports), compare_ports);
        for (size_t i = 1; i < r->n_ports; i++) {
                EgressPorts *last = r->ports + n;

                if (r->ports[i].first > last->last + 1U)
                        r->ports[++n] = r->ports[i];
                else
                        last->last = MAX_OF(last->last, r->ports[i].last);
        }
        r->n_ports = n + 1;
        if (r->ports[0].first == 1 && r->ports[0].last == PORT_MAX) {
                free(r->ports);
                r->ports = NULL;
                r->n_ports = 0;
        }
}

bool egress_rule_has_port(const EgressRule *r, uint16_t port) {
        for (size_t i = 0; i < r->n_ports; i++)
                if (port >= r->ports[i].first && port <= r->ports[i].last)
                        return true;
        return r->n_ports == 0;
}

bool egress_ports_cover(const EgressRule *outer, const EgressRule *inner) {
        if (outer->n_ports == 0)
                return true;
        for (size_t i = 0; i < inner->n_ports; i++) {
                bool found = false;

                for (size_t k = 0; k < outer->n_ports; k++)
                        found |= inner->ports[i].first >= outer->ports[k].first && inner->ports[i].last <= outer->ports[k].last;
                if (!found)
                        return false;
        }
        return inner->n_ports > 0;
}
