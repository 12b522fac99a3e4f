/* gate.h: cove-gate, the one way out of sandboxes that have one.
 *
 * A sandbox's network namespace has no interface but loopback. A route makes every address of the world local there, a rule hands every TCP
 * connection and datagram to sockets that were made inside and are accepted on out here. So there is nothing to get past: without us
 * nobody answers. We look at what it is (DNS, TLS, HTTP, else), ask policy/egress.h, and only then connect, from the host, to the address that
 * the name was resolved to, and pass the bytes on.
 *
 *      gate.c          attached sandboxes (GateSandbox), decisions and counts                              [this header]
 *      sandbox.c       one of them: its policy (read by settings.c), sockets, grants
 *      server.c        who connects and how long we stay; claim.c that we are the only one; peer.c coved's connection; messages.c what it says. single.c: for one `cove run`
 *      listener.c      accepts, and waits where there is no room
 *      connection.c    one TCP connection: its life; judge.c what it is, by its first bytes, and whether it may pass; dial.c connects
 *      relay.c         bytes from one socket to another by splice(2) through pipes that are lent (pipe.c), with a rate (bucket.c)
 *      dns-message.c   questions and answers as bytes; pins.c name ↔ address
 *      resolver.c      names to addresses, shared by all; name-cache.c what is known of them; upstream.c c-ares
 *      udp.c           allowed datagrams
 *      hello.c         TLS ClientHello: name, protocols, encrypted hello
 *      http-head.c     HTTP/1 heads, strict; http-frame.c bodies; http-target.c what is asked for
 *      http.c          requests one by one, plain or opened (http-internal.h has its parts); stream.c one side of it as bytes
 *      authority.c     certificates of a sandbox's own authority (the door to OpenSSL with tls.c)
 *      tls.c           both halves of an opened TLS connection
 *      credential.c    placeholders to values and back again
 *      ask.c           what waits for an answer
 *      share.c         the loop; whose work it does, and who waits
 *      memory.c        what is held for whom, and how much may be
 *      tell.c          what is told to coved; events.c counts repetitions
 *      confine.c       our own walls; address.c addresses, and which are this machine's
 *
 * One thread, one sd-event loop; runs as the daemon's user, never as root, behind its own seccomp and Landlock walls. Everything from a
 * guest and from the world is hostile: bounded, checked, fuzzed; the worst that malformed bytes can do is to end their own connection.
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
        uint64_t cpu_usec; /* of our thread */
} GateUsage;

/* share.h */
typedef struct GateShare {
        usec_t debt, at; /* CPU time that is held against it, as of when */
        bool is_late;    /* it has had more than its share */
        struct ShareTurn *waiting;
        sd_event_source *source; /* takes one of them after the other */
} GateShare;

struct GateSandbox {
        Gate *gate;
        char id[32];
        EgressPolicy policy;
        EgressGrants grants; /* approved since; asked after the policy's own deny rules */
        json_t *names;      /* isolated: name → address */
        struct Credentials *credentials; /* credential.h; NULL: none */
        struct Authority *authority;     /* authority.h; made when first needed */
        Pins *pins;
        uint64_t used_bytes; /* before it was attached here; counts for the total */
        int tcp_fd, dns_fd, udp_fd, pidfd;
        struct sd_event_source *tcp_source, *dns_source, *udp_source, *pid_source;
        struct Connection *connections; /* all that live */
        size_t n_connections;
        bool is_full; /* nothing is accepted until one of them ends */
        struct DnsServer *dns; /* dns-internal.h; made when first needed */
        unsigned n_collecting; /* bodies that are read as a whole */
        struct UdpFlow *flows;
        struct UdpFlow *flows_idle; /* the same, the one that is idle the longest first */
        usec_t flows_credit, flows_at; /* how many more may begin, in time; and as of when */
        struct Bucket *up, *down; /* bandwidth, shared by all its connections; NULL: no limit */
        GateUsage usage;
        GateShare share;
        size_t memory, settings_held; /* memory.h: all that it has; of it, what it was attached with */
        uint64_t requests_now; /* of the present execution */
        struct GateEvents *events;
        struct AskEntry *asks; /* ask.c: what waits for an answer */
        unsigned n_asks;
        UT_hash_handle hh;
};

struct Gate {
        sd_event *event;
        int control_fd; /* -EBADF: no coved */
        const char *claim_path; /* claim.h; NULL: it was not asked for */
        int claim_fd;
        struct Peer *peer; /* peer.h; NULL: no coved */
        void (*tell)(Gate *g, json_t *event, void *userdata); /* where events go to; takes the event */
        void *tell_userdata;
        void (*on_change)(Gate *g, void *userdata); /* a sandbox came or went */
        void *change_userdata;
        GateSandbox *sandboxes;
        size_t n_connections, connections_max; /* of all */
        size_t n_flows, flows_max; /* likewise */
        size_t memory, memory_max, memory_usual; /* memory.h; of all, how much may be, and where nobody says */
        GateSandbox *working_for; /* share.h; NULL: nobody in particular */
        sd_event_source *share_timer; /* looks again who is late */
        sd_event_source *room_timer; /* looks again whether there are descriptors */
        IpRange *reachable;
        size_t n_reachable;
        uint8_t seed[32];  /* of all authorities */
        struct Tls *tls;   /* tls.h; made when first needed */
        Resolver *resolver;
        struct UdpFlow *flows_waiting; /* by token, for their socket inside */
        uint64_t flow_token;
        struct Asks *asks;
        bool has_ipv6; /* the host has a way out by it */
        bool greeted;  /* coved has said hello: seed and reachable are what it said */
};

/* Policy, then grants. The verdict's rule counts on into the grants. Addresses of this very machine are as special as those that
 * egress.h knows. */
EgressVerdict gate_decide(const GateSandbox *s, const EgressQuestion *q);
/* Of a verdict; NULL: none. */
const EgressRule *gate_rule(const GateSandbox *s, int index);
/* The operator lists it, special or not. */
bool gate_is_reachable(const Gate *g, const IpAddress *a);
/* Everything that is not special passes: mode open, or a policy that is being learnt. */
bool gate_is_open(const GateSandbox *s);
/* Some TLS of it is opened: it needs an authority. */
bool gate_opens_tls(const GateSandbox *s);

/* events.h: a denial (or, in learn mode, what passed) becomes an event and a count. A denial for EGRESS_UPSTREAM is none, and is not told. */
void gate_tell_denied(GateSandbox *s, const EgressVerdict *v, const EgressQuestion *q);
void gate_tell_allowed(GateSandbox *s, const EgressVerdict *v, const EgressQuestion *q);
/* Any kind of control.h's: "limit", "masked". */
void gate_tell(GateSandbox *s, const char *kind, const EgressVerdict *v, const EgressQuestion *q);

/* Asks coved's people. done is called once, not from within: allow or not, with the reason for the verdict. NULL: cannot ask (nobody there,
 * too many). */
typedef struct Ask Ask;
Ask *gate_ask(GateSandbox *s, const EgressQuestion *q, void (*done)(bool allow, EgressReason reason, void *userdata), void *userdata);
Ask *ask_cancel(Ask *a);

/* Counts one request of the present execution. False: it is one too many, and has been told. */
bool gate_count_request(GateSandbox *s, const EgressQuestion *q);
/* Counts bytes. False: beyond the total; the connection is to be cut. */
bool gate_count_bytes(GateSandbox *s, uint64_t up, uint64_t down);

/* The life of it all. */
int gate_new(sd_event *event, Gate **ret, Error *reterr);
Gate *gate_free(Gate *g);
GateSandbox *gate_find(const Gate *g, const char *id);
json_t *gate_usage_to_json(const GateUsage *u);
