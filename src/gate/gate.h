/* gate.h: cove-gate, the only way out of sandboxes that have one.
 *
 * A sandbox's network namespace has no interface except loopback. A route makes every address of the world
 * local there. A rule hands every TCP connection and datagram to sockets that were made inside and are read
 * by the gate outside. There is nothing to bypass: without the gate, no connection is answered. The gate
 * classifies the traffic (DNS, TLS, HTTP, other) and asks policy/egress.h. Only then it connects, from the
 * host, to the address that the name resolved to, and relays the bytes.
 *
 *      gate.c          attached sandboxes (GateSandbox), decisions and counts                              [this header]
 *      sandbox.c       one sandbox: its policy (read by settings.c), sockets, grants
 *      server.c        accepts coved, and decides when the gate ends; claim.c one gate per path; peer.c coved's connection;
 *                      messages.c its messages. single.c instead of all these for one `cove run`
 *      listener.c      accepts connections, and pauses when there is no room
 *      connection.c    life of one TCP connection; judge.c classifies it by its first bytes and decides; dial.c connects
 *      proxy.c         decides which names go through the proxy of this machine
 *      relay.c         relays bytes between sockets by splice(2) through pooled pipes (pipe.c), with a rate (bucket.c)
 *      dns-message.c   questions and answers as bytes; pins.c name ↔ address
 *      resolver.c      names to addresses, shared by all sandboxes; name-cache.c its cache; upstream.c c-ares
 *      udp.c           allowed datagrams
 *      hello.c         TLS ClientHello: name, protocols, encrypted hello
 *      http-head.c     HTTP/1 heads, strict; http-frame.c bodies; http-target.c request targets
 *      http.c          requests one by one, plain or opened (http-internal.h lists its parts); stream.c one side as bytes
 *      authority.c     certificates of a sandbox's own authority (with tls.c, the only user of OpenSSL)
 *      tls.c           both halves of an opened TLS connection
 *      credential.c    placeholders to values and back
 *      ask.c           questions that wait for an answer
 *      share.c         the loop; CPU time per sandbox, and which sandbox waits
 *      memory.c        memory held per sandbox, and its limit
 *      tell.c          events for coved; events.c counts repetitions
 *      confine.c       the gate's own seccomp and Landlock rules
 *
 * One thread, one sd-event loop. The gate runs as the daemon's user, never as root, behind its own seccomp
 * and Landlock rules. All input from guests and from the world is hostile: it is bounded, checked and fuzzed.
 * Malformed bytes can at worst end their own connection.
 * Must not know: the store, HTTP API, who owns a sandbox. */
#pragma once

#include <systemd/sd-event.h>
#include <uthash.h>

#include "gate/control.h"
#include "policy/egress.h"

typedef struct Gate Gate;
typedef struct GateSandbox GateSandbox;
typedef struct Resolver Resolver;
typedef struct Pins Pins;

typedef struct GateUsage {
        uint64_t up_bytes, down_bytes, requests, connections, denied;
        uint64_t cpu_usec; /* of the gate's thread */
} GateUsage;

/* share.h */
typedef struct GateShare {
        usec_t debt, at; /* CPU time charged to it, as of `at` */
        bool is_late;    /* it has used more than its share */
        struct ShareTurn *waiting;
        sd_event_source *source; /* runs the waiting turns one by one */
} GateShare;

struct GateSandbox {
        Gate *gate;
        char id[32];
        EgressPolicy policy;
        EgressGrants grants; /* approved later; checked after the policy's own deny rules */
        json_t *names;      /* isolated: name → address */
        struct Credentials *credentials; /* credential.h; NULL: none */
        struct Authority *authority;     /* authority.h; made when first needed */
        Pins *pins;
        uint64_t used_bytes; /* before it was attached here; counts towards the total */
        int tcp_fd, dns_fd, udp_fd, pidfd;
        struct sd_event_source *tcp_source, *dns_source, *udp_source, *pid_source;
        struct Connection *connections; /* all open ones */
        size_t n_connections;
        bool is_full; /* true: nothing is accepted until a connection ends */
        struct DnsServer *dns; /* dns-internal.h; made when first needed */
        unsigned n_collecting; /* bodies that are being collected as a whole */
        struct UdpFlow *flows;
        struct UdpFlow *flows_idle; /* the same flows, the longest idle first */
        usec_t flows_credit, flows_at; /* credit for new flows, in time; as of flows_at */
        struct Bucket *up, *down; /* bandwidth of all its connections together; NULL: no limit */
        GateUsage usage;
        GateShare share;
        size_t memory, settings_held; /* memory.h: all that it holds; the part held by its settings */
        uint64_t requests_now; /* of the current execution */
        struct GateEvents *events;
        struct AskEntry *asks; /* ask.c: open questions */
        unsigned n_asks;
        UT_hash_handle hh;
};

struct Gate {
        sd_event *event;
        int control_fd; /* -EBADF: no coved */
        const char *claim_path; /* claim.h; NULL: no claim */
        int claim_fd;
        struct Peer *peer; /* peer.h; NULL: no coved */
        void (*tell)(Gate *g, json_t *event, void *userdata); /* sink of events; takes ownership of the event */
        void *tell_userdata;
        void (*on_change)(Gate *g, void *userdata); /* a sandbox was attached or detached */
        void *change_userdata;
        GateSandbox *sandboxes;
        size_t n_connections, connections_max; /* of all sandboxes */
        size_t n_flows, flows_max; /* likewise */
        size_t memory, memory_max, memory_usual; /* memory.h: held by all; the limit; the limit if coved sets none */
        GateSandbox *working_for; /* share.h; NULL: no sandbox */
        sd_event_source *share_timer; /* re-checks which sandboxes are late */
        sd_event_source *room_timer; /* re-checks whether connections can be accepted */
        IpRange *reachable;
        size_t n_reachable;
        uint8_t seed[32];  /* of the keys of all authorities */
        struct Tls *tls;   /* tls.h; made when first needed */
        Resolver *resolver;
        struct GateProxy *proxy; /* proxy.h; NULL: every host is reached directly */
        struct UdpFlow *flows_waiting; /* by token; they wait for their socket inside */
        uint64_t flow_token;
        struct Asks *asks;
        bool has_ipv6; /* the host has an IPv6 route out */
        bool greeted;  /* coved has sent hello: seed and reachable are valid */
};

/* Decides by the policy, then by the grants. The verdict's rule index continues into the grants. Addresses of
 * this machine count as special, like those that egress.h knows. */
EgressVerdict gate_decide(const GateSandbox *s, const EgressQuestion *q);
/* The rule of a verdict's index. NULL: none. */
const EgressRule *gate_rule(const GateSandbox *s, int index);
/* Whether the address may be reached: it is public, or the operator lists it, special or not. */
bool gate_is_reachable(const Gate *g, const IpAddress *a);
/* Whether everything except special addresses passes: mode open, or a policy in learn mode. */
bool gate_is_open(const GateSandbox *s);
/* Whether some of its TLS is opened, so that it needs an authority. */
bool gate_opens_tls(const GateSandbox *s);

/* Counts a denial (or, in learn mode, an allowed request) and reports it as an event, with repetitions
 * suppressed (events.h). A denial for EGRESS_UPSTREAM is neither counted nor reported. */
void gate_tell_denied(GateSandbox *s, const EgressVerdict *v, const EgressQuestion *q);
void gate_tell_allowed(GateSandbox *s, const EgressVerdict *v, const EgressQuestion *q);
/* Sends an event of another kind of control.h: "limit", "masked". */
void gate_tell(GateSandbox *s, const char *kind, const EgressVerdict *v, const EgressQuestion *q);

/* Asks through coved. done is called once, not from within the call: allow or not, with the reason for the
 * verdict. NULL: cannot ask (no coved, too many questions, out of memory). */
typedef struct Ask Ask;
Ask *gate_ask(GateSandbox *s, const EgressQuestion *q, void (*done)(bool allow, EgressReason reason, void *userdata), void *userdata);
Ask *ask_cancel(Ask *a);

/* Counts one request of the current execution. False: the limit is exceeded; this has been reported. */
bool gate_count_request(GateSandbox *s, const EgressQuestion *q);
/* Counts bytes. False: the total is exceeded, and the caller must cut the connection. */
bool gate_count_bytes(GateSandbox *s, uint64_t up, uint64_t down);

int gate_new(sd_event *event, Gate **ret, Error *reterr);
Gate *gate_free(Gate *g);
GateSandbox *gate_find(const Gate *g, const char *id);
json_t *gate_usage_to_json(const GateUsage *u);
