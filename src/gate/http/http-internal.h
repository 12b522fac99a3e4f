/* http-internal.h: one exchange, as its parts share it. Nobody else's.
 *
 *      http.c           its life: streams, steps, time, end
 *      http-request.c   a head of the guest: whose host, may it, by whom approved
 *      http-send.c      the request as it goes on: head and body, with credentials
 *      http-response.c  what comes back: head and body, masked
 *      http-tunnel.c    what is only bytes, after 101
 *      http-refuse.c    answers of our own
 *
 *      GREET → HEAD → ASK → CONNECT → COLLECT → PASS → HEAD …
 *                │                               └──→ TUNNEL
 *                └→ (refused) → HEAD, or DRAIN → OVER
 *
 * One request at a time; the next one waits in the guest's stream. The connection to upstream is made for the first request that may pass, and
 * shares the fate of the guest's: when one ends, so does the other, as it would be without us. */
#pragma once

#include "gate/http/http-frame.h"
#include "gate/http/http-target.h"
#include "gate/http/http.h"
#include "gate/share.h"
#include "gate/relay/dial.h"
#include "gate/relay/stream.h"

#define HTTP_GREET_USEC   (30 * USEC_PER_SEC)  /* TLS with the guest */
#define HTTP_HEAD_USEC    (60 * USEC_PER_SEC)  /* from the first byte of a head to its last */
#define HTTP_IDLE_USEC    (300 * USEC_PER_SEC) /* between requests */
#define HTTP_CONNECT_USEC (30 * USEC_PER_SEC)  /* TCP and TLS with upstream */
#define HTTP_COLLECT_USEC (60 * USEC_PER_SEC)  /* a body that is read as a whole */
#define HTTP_DRAIN_USEC   (2 * USEC_PER_SEC)
#define HTTP_DRAIN_MAX    (1024 * 1024)        /* of a body nobody wants */
#define HTTP_COLLECT_MAX  (1024 * 1024)
#define HTTP_COLLECTS_MAX 16                   /* of one sandbox at once: further ones go on in chunks */
#define HTTP_MASK_MAX     2048                 /* gone through for credentials in one turn: a hostile byte costs microseconds */
#define HTTP_MASK_PIECE   64                   /* what a piece counts besides its bytes */
#define HTTP_MASK_HEAD    16384                /* bytes of a head in which credentials are looked for */
#define HTTP_INTERIM_MAX  16                   /* responses of 1xx before the real one */
#define HTTP_SENT_MAX     (4 * 1024 * 1024)    /* a piece with its credentials put in */

typedef enum HttpStep {
        HTTP_STEP_GREET,
        HTTP_STEP_HEAD,
        HTTP_STEP_ASK,
        HTTP_STEP_CONNECT,
        HTTP_STEP_COLLECT,
        HTTP_STEP_PASS,
        HTTP_STEP_TUNNEL,
        HTTP_STEP_DRAIN,
        HTTP_STEP_OVER,
        _HTTP_STEP_MAX,
} HttpStep;

typedef struct HttpAsked {
        HttpHead head;
        HttpTarget target;
        char host[EGRESS_DOMAIN_MAX]; /* "": by number */
        char authority[EGRESS_DOMAIN_MAX + 8]; /* Host as it goes on; "": none */
        EgressQuestion question;      /* points into the others */
        HttpFrame frame;              /* of the body as it comes */
        bool websocket, expects;      /* Expect: 100-continue */
        bool chunked;                 /* the body as it goes on */
        bool sent;                    /* head and whole body have gone on */
        CredentialFilter *find;       /* of the body: what does not belong there */
        CredentialFilter *fill;       /* and what becomes a value */
        Text body;                    /* COLLECT */
        bool collects;                /* and is counted */
        usec_t deadline;              /* 0: none */
} HttpAsked;

typedef struct HttpAnswered {
        bool begun;                   /* the guest has its head */
        bool over;                    /* and its body */
        bool last;                    /* nothing comes behind it on this connection */
        unsigned n_interim;
        size_t scanned;
        HttpFrame frame;
        bool chunked;                 /* the body as it goes to the guest */
        CredentialFilter *mask;
        bool told;                    /* that something was masked */
} HttpAnswered;

struct HttpExchange {
        GateSandbox *sandbox;
        bool tls;
        bool approved;                /* by somebody, for all of this connection, as far as it is for this host: */
        char approved_host[EGRESS_DOMAIN_MAX];
        IpAddress address;
        uint16_t port;
        char host[EGRESS_DOMAIN_MAX]; /* TLS: the only one */
        Credentials *credentials;     /* as they were when the request came */
        HttpStep step;
        Stream *guest, *upstream;
        Dial *dial;
        Ask *ask;
        sd_event_source *timer, *again;
        ShareTurn turn;
        size_t scanned;               /* of the head that is being waited for */
        HttpAsked asked;
        HttpAnswered answered;
        bool head_begun;              /* its time is running */
        bool policy_changed;
        size_t drained;
        bool drain_sent;              /* our last word has gone out */
        CredentialFilter *tunnel_mask;
        size_t held;                  /* memory.h */
        size_t masked;                /* bytes that were gone through for credentials in this turn */
        void (*done)(HttpExchange *x, void *userdata);
        void *userdata;
};

/* Each step does what can be done now: > 0 when something moved, 0 when it has to wait. */
void http_go(HttpExchange *x, HttpStep step);   /* into a step, with its time */
void http_pump(HttpExchange *x);                /* from callbacks: all that can be done */
void http_enter(HttpExchange *x);               /* likewise, when it is its turn */
void http_over(HttpExchange *x);
int http_next_request(HttpExchange *x);

/* http-request.c */
int http_step_head(HttpExchange *x);
void http_asked_done(HttpExchange *x);
bool http_is_approved(const HttpExchange *x);
int http_step_connect(HttpExchange *x);

/* http-send.c */
int http_step_collect(HttpExchange *x);
int http_send_head(HttpExchange *x, const Text *body); /* body: all of it; NULL: it comes piece by piece */
int http_send_body(HttpExchange *x);
bool http_must_collect(const HttpExchange *x);
bool http_count_up(HttpExchange *x, size_t size); /* false: it was one too many, and is over */

void http_put_body(Stream *s, bool chunked, const void *data, size_t size);
/* Whether a field concerns this connection only, and is not passed on. */
bool http_is_hop(const HttpHead *h, const char *name);

/* http-response.c */
int http_step_pass(HttpExchange *x);

/* http-tunnel.c */
int http_start_tunnel(HttpExchange *x);
int http_step_tunnel(HttpExchange *x);

/* http-refuse.c: answers the guest, and goes on to the next request where that is possible. All of them return 1. */
int http_deny(HttpExchange *x, const EgressVerdict *v);
int http_deny_because(HttpExchange *x, EgressReason reason);
int http_deny_told(HttpExchange *x, EgressReason reason); /* it has been told already */
int http_fail(HttpExchange *x, const char *why);          /* upstream: 502 */
int http_step_drain(HttpExchange *x);
void http_cut(HttpExchange *x); /* over, and the guest shall know that it was not the end */
