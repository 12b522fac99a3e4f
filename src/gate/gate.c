#include "gate/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/address.h"
#include "base/fd.h"
#include "base/reserve.h"
#include "gate/ask.h"
#include "gate/dns/dns.h"
#include "gate/memory.h"
#include "gate/relay/listener.h"
#include "gate/relay/proxy.h"
#include "gate/sandbox.h"
#include "gate/share.h"
#include "gate/tell.h"
#include "gate/tls/tls.h"

#define FILES_OWN 64

GateSandbox *gate_find(const Gate *g, const char *id) {
        GateSandbox *s;

        HASH_FIND_STR(g->sandboxes, id, s);
        return s;
}

bool gate_is_reachable(const Gate *g, const IpAddress *a) {
        return address_is_reachable(a, IP_REACH_PUBLIC, g->reachable, g->n_reachable);
}

bool gate_is_open(const GateSandbox *s) {
        return s->policy.mode == NETWORK_OPEN || s->policy.learn;
}

bool gate_opens_tls(const GateSandbox *s) {
        if (s->policy.mode == NETWORK_ISOLATED)
                return false;
        if (s->policy.inspect_all || s->policy.requests_max > 0 || s->credentials)
                return true;
        for (size_t i = 0; i < s->policy.n_rules; i++)
                if (s->policy.rules[i].inspect || s->policy.rules[i].methods || s->policy.rules[i].paths)
                        return true;
        for (size_t i = 0; i < s->grants.n; i++)
                if (s->grants.rules[i].inspect || s->grants.rules[i].methods || s->grants.rules[i].paths)
                        return true;
        return false;
}

const EgressRule *gate_rule(const GateSandbox *s, int index) {
        size_t i = (size_t) index;

        if (index < 0)
                return NULL;
        if (i < s->policy.n_rules)
                return s->policy.rules + i;
        i -= s->policy.n_rules;
        return i < s->grants.n ? s->grants.rules + i : NULL;
}

EgressVerdict gate_decide(const GateSandbox *s, const EgressQuestion *q) {
        EgressQuestion by_name;
        EgressVerdict v;

        if (q->has_address && gate_proxy_for(s, q)) { /* the proxy resolves the name: our address does not matter */
                by_name = *q;
                by_name.has_address = false;
                q = &by_name;
        }
        v = egress_decide_with(&s->policy, &s->grants, s->gate->reachable, s->gate->n_reachable, q);
        if (v.action != EGRESS_DENY && q->has_address && !gate_is_reachable(s->gate, &q->address))
                return (EgressVerdict) { .action = EGRESS_DENY, .reason = EGRESS_SPECIAL_ADDRESS, .rule = -1 };
        return v;
}

bool gate_count_request(GateSandbox *s, const EgressQuestion *q) {
        const EgressVerdict v = { .action = EGRESS_DENY, .reason = EGRESS_REQUESTS, .rule = -1 };

        if (s->policy.requests_max == 0 || s->requests_now < s->policy.requests_max) {
                s->requests_now++;
                s->usage.requests++;
                return true;
        }
        s->usage.denied++;
        gate_tell(s, "limit", &v, q);
        return false;
}

bool gate_count_bytes(GateSandbox *s, uint64_t up, uint64_t down) {
        const EgressVerdict v = { .action = EGRESS_DENY, .reason = EGRESS_TOTAL, .rule = -1 };

        s->usage.up_bytes += up;
        s->usage.down_bytes += down;
        if (s->policy.total_bytes_max == 0 || s->used_bytes + s->usage.up_bytes + s->usage.down_bytes <= s->policy.total_bytes_max)
                return true;
        gate_tell(s, "limit", &v, &(EgressQuestion) { .protocol = EGRESS_TCP });
        return false;
}

json_t *gate_usage_to_json(const GateUsage *u) {
        return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}",
                        "up", (json_int_t) u->up_bytes,
                        "down", (json_int_t) u->down_bytes,
                        "requests", (json_int_t) u->requests,
                        "connections", (json_int_t) u->connections,
                        "denied", (json_int_t) u->denied,
                        "cpu", (json_int_t) u->cpu_usec);
}

/* A connection takes two descriptors, and pipes while bytes are under way. For every two connections there
 * may be one flow of datagrams, which takes two descriptors. A quarter of all is a reserve for sandboxes
 * that are attached, each with four: connections of other sandboxes cannot keep one out. */
static void find_room(Gate *g) {
        struct rlimit limit;
        size_t all = 1024, left;

        if (getrlimit(RLIMIT_NOFILE, &limit) >= 0)
                all = (size_t) MIN_OF(limit.rlim_max, (rlim_t) 1 << 20);
        (void) reserve_make(all, all / 4);
        left = all - all / 4;
        g->connections_max = MAX_OF(left > FILES_OWN ? (left - FILES_OWN) / 7 : 0, (size_t) 4);
        g->flows_max = MAX_OF(g->connections_max / 2, (size_t) 2);
}

int gate_new(sd_event *event, Gate **ret, Error *reterr) {
        Gate *g = calloc(1, sizeof(*g));
        int r;

        if (!g)
                return error_set(reterr, -ENOMEM, "%m");
        g->event = sd_event_ref(event);
        g->control_fd = g->claim_fd = -EBADF;
        find_room(g);
        memory_init(g);
        g->has_ipv6 = address_has_ipv6();
        r = asks_new(g, &g->asks);
        if (r < 0)
                r = error_set(reterr, r, "%m");
        else
                r = resolver_new(event, &g->resolver, reterr);
        if (r < 0) {
                gate_free(g);
                return r;
        }
        *ret = g;
        return 0;
}

Gate *gate_free(Gate *g) {
        if (!g)
                return NULL;
        g->on_change = NULL;
        while (g->sandboxes)
                gate_sandbox_free(g->sandboxes);
        sd_event_source_disable_unref(g->room_timer);
        share_gate_gone(g);
        asks_free(g->asks);
        resolver_free(g->resolver);
        tls_free(g->tls);
        gate_proxy_free(g->proxy);
        free(g->reachable);
        explicit_bzero(g->seed, sizeof(g->seed));
        sd_event_unref(g->event);
        (void) fd_close(g->claim_fd); /* last: when the next gate gets the claim, this one serves no sandbox */
        free(g);
        return NULL;
}
