/* http-internal.h: one exchange, shared by its parts. Private to them.
 *
 *      http.c           its life: streams, steps, timeouts, end
 *      http-request.c   a request head: its host, whether it may pass, whether it is approved
 *      http-send.c      the request to upstream: head and body, with credentials
 *      http-response.c  the response: head and body, masked
 *      http-tunnel.c    plain bytes, after 101
 *      http-refuse.c    the gate's own responses
 *
 *      GREET → HEAD → ASK → CONNECT → COLLECT → PASS → HEAD …
 *                │                               └──→ TUNNEL
 *                └→ (refused) → HEAD, or DRAIN → OVER
 *
 * One request at a time; the next one waits in the guest's stream. The connection to upstream is made for the
 * first request that may pass, and is tied to the guest's connection: when one ends, so does the other, as
 * without a gate. */
#pragma once

#include "gate/http/http-frame.h"
#include "gate/http/http-target.h"
#include "gate/http/http.h"
#include "gate/share.h"
#include "gate/relay/dial.h"
#include "gate/relay/stream.h"

#define HTTP_GREET_USEC   (30 * USEC_PER_SEC)  /* TLS handshake with the guest */
#define HTTP_HEAD_USEC    (60 * USEC_PER_SEC)  /* from the first byte of a head to its last */
#define HTTP_IDLE_USEC    (300 * USEC_PER_SEC) /* between requests */
#define HTTP_CONNECT_USEC (30 * USEC_PER_SEC)  /* TCP and TLS handshakes with upstream */
#define HTTP_COLLECT_USEC (60 * USEC_PER_SEC)  /* to collect a whole body */
#define HTTP_DRAIN_USEC   (2 * USEC_PER_SEC)
#define HTTP_DRAIN_MAX    (1024 * 1024)        /* bytes of a refused body to discard */
#define HTTP_COLLECT_MAX  (1024 * 1024)
#define HTTP_COLLECTS_MAX 16                   /* of one sandbox at once; further ones are sent in chunks */
#define HTTP_MASK_MAX     2048                 /* bytes searched for credentials in one turn: a hostile byte costs microseconds */
#define HTTP_MASK_PIECE   64                   /* overhead counted for a piece, in addition to its bytes */
#define HTTP_MASK_HEAD    16384                /* bytes of a head that are searched for credentials */
#define HTTP_INTERIM_MAX  16                   /* 1xx responses before the final one */
#define HTTP_SENT_MAX     (4 * 1024 * 1024)    /* a piece after credentials are filled in */

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
        char host[EGRESS_DOMAIN_MAX]; /* "": by address */
        char authority[EGRESS_DOMAIN_MAX + 8]; /* Host as sent on; "": none */
        EgressQuestion question;      /* points into the other members */
        HttpFrame frame;              /* of the body as received */
        bool websocket, expects;      /* Expect: 100-continue */
        bool chunked;                 /* the body is sent in chunks */
        bool authorized;              /* sent with the proxy's password */
        bool sent;                    /* head and whole body have been sent */
        CredentialFilter *find;       /* for the body: finds foreign placeholders */
        CredentialFilter *fill;       /* for the body: fills values in */
        Text body;                    /* COLLECT */
        bool collects;                /* counted in the sandbox's n_collecting */
        usec_t deadline;              /* 0: none */
} HttpAsked;

typedef struct HttpAnswered {
        bool begun;                   /* the guest has received its head */
        bool over;                    /* and its whole body */
        bool last;                    /* nothing follows it on this connection */
        unsigned n_interim;
        size_t scanned;
        HttpFrame frame;
        bool chunked;                 /* the body is sent to the guest in chunks */
        CredentialFilter *mask;
        bool told;                    /* the masking has been reported */
} HttpAnswered;

struct HttpExchange {
        GateSandbox *sandbox;
        bool tls;
        bool approved;                /* by a person, for this connection, but only for this host: */
        char approved_host[EGRESS_DOMAIN_MAX];
        IpAddress address;
        uint16_t port;
        char host[EGRESS_DOMAIN_MAX]; /* TLS: the only host */
        Credentials *credentials;     /* as of the arrival of the request */
        HttpStep step;
        Stream *guest, *upstream;
        bool by_proxy;                /* upstream is the proxy itself: requests name their host */
        bool reused;                  /* upstream has answered another request before */
        Dial *dial;
        Ask *ask;
        sd_event_source *timer, *again;
        ShareTurn turn;
        size_t scanned;               /* bytes already scanned of the incomplete head */
        HttpAsked asked;
        HttpAnswered answered;
        bool head_begun;              /* the head's timeout is running */
        bool policy_changed;
        size_t drained;
        bool drain_sent;              /* the final response has been sent */
        CredentialFilter *tunnel_mask;
        size_t held;                  /* memory.h */
        size_t masked;                /* bytes searched for credentials in this turn */
        void (*done)(HttpExchange *x, void *userdata);
        void *userdata;
};

/* Each step function does what is possible now. It returns > 0 if something moved, 0 if it has to wait. */
void http_go(HttpExchange *x, HttpStep step);   /* enters a step and sets its timeout */
void http_pump(HttpExchange *x);                /* from callbacks: runs steps until none can proceed, or the turn is used up */
void http_enter(HttpExchange *x);               /* likewise, but waits for its turn (share.h) */
void http_over(HttpExchange *x);
int http_next_request(HttpExchange *x);

/* http-request.c */
int http_step_head(HttpExchange *x);
void http_asked_done(HttpExchange *x);
bool http_is_approved(const HttpExchange *x);
int http_step_connect(HttpExchange *x);

/* http-send.c */
int http_step_collect(HttpExchange *x);
int http_send_head(HttpExchange *x, const Text *body); /* body: the whole body; NULL: it follows piece by piece */
int http_send_body(HttpExchange *x);
bool http_must_collect(const HttpExchange *x);
bool http_count_up(HttpExchange *x, size_t size); /* false: the total is exceeded, and the request is refused */

void http_put_body(Stream *s, bool chunked, const void *data, size_t size);
/* Whether a field is hop-by-hop, and not passed on. */
bool http_is_hop(const HttpHead *h, const char *name);

/* http-response.c */
int http_step_pass(HttpExchange *x);

/* http-tunnel.c */
int http_start_tunnel(HttpExchange *x);
int http_step_tunnel(HttpExchange *x);

/* http-refuse.c: respond to the guest, and go on with the next request if possible. All functions that return
 * int return 1, except http_step_drain(). */
int http_deny(HttpExchange *x, const EgressVerdict *v);
int http_deny_because(HttpExchange *x, EgressReason reason);
int http_deny_told(HttpExchange *x, EgressReason reason); /* the denial has been reported before */
int http_fail(HttpExchange *x, const char *why);          /* upstream failed: 502 */
int http_step_drain(HttpExchange *x);
void http_cut(HttpExchange *x); /* ends with a reset, so that the guest does not take the response for complete */
