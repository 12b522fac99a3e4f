/* connection-internal.h: one connection, shared by connection.c (its life) and judge.c (what it is, and
 * whether it may pass). Private to them. */
#pragma once

#include "gate/http/http.h"
#include "gate/relay/connection.h"
#include "gate/relay/dial.h"
#include "gate/relay/relay.h"
#include "gate/share.h"

typedef struct Connection Connection;

struct Connection {
        GateSandbox *sandbox;
        int fd;                   /* the guest's side; -EBADF: http.c has it */
        int upstream_fd;
        IpAddress address;    /* the guest's destination */
        uint16_t port;
        EgressProtocol protocol;  /* its presumed protocol */
        char host[EGRESS_DOMAIN_MAX]; /* the name it is judged by; "": by address */
        bool cleared;             /* it may pass as bytes */
        bool approved;            /* a person has approved it, once */
        bool tls;                 /* it is TLS with a checked name; kept while the question waits */
        sd_event_source *source, *upstream_source, *timer;
        ShareTurn turn;           /* for judge_look() */
        bool hung_up;             /* the guest sends no more bytes */
        Ask *ask;
        Dial *dial;
        Relay *relay;
        HttpExchange *http;
        Connection *prev, *next;
};

EgressQuestion connection_question(const Connection *c);

/* The caller must not touch the connection after any of these: it may be freed. */
void connection_deny(Connection *c, const EgressVerdict *v); /* reports and resets */
void connection_reset(Connection *c);
void connection_close(Connection *c);
void connection_clear(Connection *c); /* lets it pass: connects, then relays */
void connection_open(Connection *c);  /* hands it to http.c; as TLS if c->tls */

/* Connects before a decision, where raw TCP to this address is allowed anyway: if the server speaks first,
 * the connection is relayed. */
void connection_dial_ahead(Connection *c);

/* judge.c */
void judge_accepted(Connection *c);
void judge_look(void *userdata); /* peeks at the bytes of a connection */
int judge_on_bytes(sd_event_source *source, int fd, uint32_t revents, void *userdata);
int judge_on_silence(sd_event_source *source, uint64_t usec, void *userdata);
void judge_policy_changed(Connection *c);
