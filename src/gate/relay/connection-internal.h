/* connection-internal.h: one connection, as connection.c (its life) and judge.c (what it is, and whether it may) share it. Nobody else's. */
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
        IpAddress address;    /* where it wants to go */
        uint16_t port;
        EgressProtocol protocol;  /* what it is taken for */
        char host[EGRESS_DOMAIN_MAX]; /* by which name; "": by number */
        bool cleared;             /* it may pass, as bytes */
        bool approved;            /* somebody has said so, this once */
        bool tls;                 /* while it is asked about: it would be TLS whose name was checked */
        sd_event_source *source, *upstream_source, *timer;
        ShareTurn turn;           /* to look at its bytes */
        bool hung_up;             /* and no more will come */
        Ask *ask;
        Dial *dial;
        Relay *relay;
        HttpExchange *http;
        Connection *prev, *next;
};

EgressQuestion connection_question(const Connection *c);

/* Each of these is the last thing its caller does with the connection: it may be gone. */
void connection_deny(Connection *c, const EgressVerdict *v); /* tells, resets */
void connection_reset(Connection *c);
void connection_close(Connection *c);
void connection_clear(Connection *c); /* it may pass: connect, then relay */
void connection_open(Connection *c);  /* to http.c; TLS when c->tls */

/* Connects ahead of any decision, where raw TCP to there is allowed anyway; who speaks first decides. */
void connection_dial_ahead(Connection *c);

/* judge.c */
void judge_accepted(Connection *c);
void judge_look(void *userdata); /* at the bytes of a connection */
int judge_on_bytes(sd_event_source *source, int fd, uint32_t revents, void *userdata);
int judge_on_silence(sd_event_source *source, uint64_t usec, void *userdata);
void judge_policy_changed(Connection *c);
