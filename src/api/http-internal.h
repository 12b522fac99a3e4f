/* http-internal.h: shared by the files behind http.h. Only they include it, and only they know libmicrohttpd.
 *
 * libmicrohttpd (MHD below) has an epoll descriptor of its own, which is a source of our loop. MHD_run() is
 * called when that is ready, at the timeout that MHD requests, and when one of our requests has to continue.
 *
 * Rules that follow from how MHD 0.9.75 works, and that the rest relies on:
 *
 *  1. MHD calls are made from listener_run(), or from MHD's own callbacks for the same connection; never from any other
 *     callback. MHD calls some of its callbacks with a lock held, and its lists must not change meanwhile. So all actions
 *     of a surface are put on a list, and the next listener_run() does them.
 *  2. A response can be queued before the body (which ends the connection) or after all of it, not in between. An answer
 *     in the middle of a body waits until the rest has been dropped (http-body.c).
 *  3. A connection is suspended after MHD_run(), not in its callback. Only then does MHD know that the connection waits for
 *     nothing. Otherwise MHD would read, and would take a half-closed client for one that is gone, before it asks us again.
 *  4. MHD neither watches a suspended connection nor applies timeouts to it, and may miss the end of the client's data on
 *     other connections. We watch all of them for clients that leave (http-connection.c).
 *
 * The flow of a request:
 *
 *      running ─ nothing to do for now → pausing ─ MHD_run() returns → paused ─ http_request_continue() → continuing
 *         ↑                                 │                                                                 │
 *         └── http_request_continue() ──────┘              └────────────── next listener_run() ───────────────┘
 *
 *      upgraded ─ http_upgraded_close() → leaving ─ next listener_run() → closed */
#pragma once

#include <microhttpd.h>

#include "api/http.h"
#include "api/https.h"
#include "base/clock.h"
#include "core/settle.h"
#include "core/stranger.h"

typedef struct HttpListener HttpListener;
typedef struct HttpConnection HttpConnection;
typedef struct HttpTls HttpTls;

/* MHD's memory for one connection: the head of a request, and during the answer the current chunk. MHD clears
 * all of it after every request, so a larger size would slow down every request. */
#define HTTP_CONNECTION_MEMORY STRANGER_CONNECTION_BYTES
#define HTTP_STREAM_BLOCK      ((size_t) 256 << 10) /* per read of a stream of known size */
/* Size of an unexpected body that is ignored, with GET, HEAD and DELETE. */
#define HTTP_IGNORED_MAX       ((uint64_t) 64 << 10)
/* The answer waits for the rest of a dropped body up to this size. */
#define HTTP_DISCARD_QUIETLY   ((uint64_t) 1 << 20)
/* Connections of a listener beyond the limit, to answer them 503. */
#define HTTP_RESERVE(max)      MIN_OF((max) / 4 + 16, 64u)

#define HTTP_LOCAL 8 /* … of which this many are served on the unix socket, so that the operator always gets in */

typedef enum HttpFlow {
        HTTP_RUNNING,
        HTTP_PAUSING,
        HTTP_PAUSED,
        HTTP_CONTINUING,
        HTTP_UPGRADED,
        HTTP_LEAVING,
        _HTTP_FLOW_MAX,
} HttpFlow;

typedef struct HttpPair {
        char *name, *value;
} HttpPair;

struct HttpUpgraded {
        HttpRequest *request;
        struct MHD_UpgradeResponseHandle *handle;
        HttpUpgrade upgraded;
        void *userdata;
};

struct HttpRequest {
        HttpConnection *connection;
        HttpPlan plan;
        HttpFlow flow;
        HttpRequest *prev, *next; /* in the listener's list for its flow */

        const char *method, *path; /* MHD's, valid as long as the request */
        bool is_1_1;
        char *query_text;
        HttpPair *queries;
        size_t n_queries, query_size; /* query_size: as received */

        uint64_t length; /* of the body; UINT64_MAX: chunked */
        char *body;
        size_t body_size, body_room;
        uint64_t received, discarded;
        bool discarding; /* answered, or about to be: the rest of the body is dropped */
        bool ignoring;   /* the body is dropped, but the request is served */
        bool unframed;   /* the end of the body is unknown */
        /* The last request of its connection: its end is ambiguous, so nothing is read after it. */
        bool is_last;

        bool handled;   /* plan.handle() was called */
        bool body_told; /* plan.body() was called with size 0 */
        bool gone;      /* the client has left or is to be dropped: break off at the next occasion */

        HttpPair *headers; /* of the future answer */
        size_t n_headers;
        bool answered;                 /* by the surface, or by us */
        bool queued;                   /* passed to MHD */
        bool sent_early;               /* written directly to the socket, in the middle of a body */
        struct MHD_Response *response; /* created, not queued yet */
        unsigned status;
        const char *answer_data; /* belongs to the response */
        size_t answer_size;

        HttpNext stream_next;
        void *stream_userdata;
        uint64_t stream_size;
        HttpUpgraded upgraded;
};

struct HttpConnection {
        HttpListener *listener;
        struct MHD_Connection *mhd;
        int fd;
        bool is_unix, over_limit, is_quiet, is_finished;
        bool is_known, was_known; /* one of its requests was authenticated; … when it became quiet */
        uid_t uid; /* of the peer, when is_unix */
        size_t target_size; /* of the target of the next request, before MHD splits it */
        bool target_bad;
        usec_t quiet_since;
        HttpConnection *prev, *next; /* in one of the listener's lists of quiet connections */
        HttpConnection *finished_prev, *finished_next;
        HttpRequest *request;
        uint32_t hangup; /* epoll events about the client's leaving so far */
        sd_event_source *probe;
};

struct HttpListener {
        HttpServer *server;
        struct MHD_Daemon *daemon;
        int fd;
        char *socket_path; /* to be removed at the end */
        sd_event_source *io, *timer, *defer;
        SettleDoor door; /* its requests that continue */
        usec_t timer_at;
        int hangups_fd;           /* an epoll set for clients that leave */
        sd_event_source *hangups;
        /* Connections without a request of an authenticated client, quiet for longest first: [0] never
         * authenticated, [1] authenticated before. */
        HttpConnection *quiet[2];
        HttpConnection *finished; /* their clients will send no more */
        HttpRequest *flows[_HTTP_FLOW_MAX];
        bool again;

        sd_event_source *accept, *accept_again;
        bool accept_failed; /* and this was logged */
        Https *https; /* the server's; NULL: no TLS on this listener */
        HttpTls *tls;
};

struct HttpServer {
        sd_event *event;
        Settle *settle;
        HttpRoute route;
        void *userdata;
        unsigned connections_max, n_connections; /* of all listeners */
        unsigned n_handshakes; /* TLS handshakes under way; each may become a connection */
        usec_t idle_usec;
        size_t header_max;
        bool quiesced;
        char *address, *tls_address;
        Https *https;
        HttpListener *listeners[3];
};

/* http-listen.c: sockets. The caller closes them. */
int http_listen_tcp(const char *address, bool loopback_only, char **ret_address, Error *reterr);
int http_listen_unix(const char *path, Error *reterr);

/* http.c */
void http_listener_wake(HttpListener *l);
void http_set_flow(HttpRequest *r, HttpFlow flow);

/* http-accept.c: new connections. MHD does not listen itself: out of file descriptors, it would stop
 * listening until one of its own connections ends, or retry in a busy loop. */
int http_accept_attach(HttpListener *l);
void http_accept_quiesce(HttpListener *l); /* takes no more connections */

/* http-tls.c */
void http_tls_begin(HttpListener *l, int fd, const struct sockaddr_storage *peer, socklen_t size); /* takes fd */
void http_tls_detach(HttpListener *l);
bool http_tls_drop_handshake(HttpListener *l); /* drops the oldest one */

/* http-connection.c */
void http_connection_notify(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_ConnectionNotificationCode code);
void http_connection_set_quiet(HttpConnection *c, bool quiet);
void http_connection_paused(HttpConnection *c, bool paused); /* its request waits for us */
int http_hangups_attach(HttpListener *l);
void http_hangups_detach(HttpListener *l);
bool http_connection_make_room(HttpServer *s); /* if there are too many; false: no connection can be dropped */
usec_t http_connection_cut_slow(HttpListener *l); /* returns when to call it again; USEC_INFINITY: not needed */
void http_connection_cut_finished(HttpListener *l);

/* http-request.c */
enum MHD_Result http_on_request(void *cls, struct MHD_Connection *mhd, const char *path, const char *method,
                const char *version, const char *data, size_t *size, void **context);
void http_on_completed(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code);
size_t http_unescape_nothing(void *cls, struct MHD_Connection *mhd, char *text);

/* http-strict.c */
void *http_strict_on_target(void *cls, const char *target, struct MHD_Connection *mhd);
bool http_strict_head(const HttpRequest *r, const char *version); /* version: MHD's pointer into the head */
int http_strict_length(HttpRequest *r); /* length of the body: -EINVAL, -EOPNOTSUPP */

/* http-query.c */
int http_read_query(HttpRequest *r);

/* http-body.c */
void http_body_begin(HttpRequest *r);
/* Writes an answer that cannot wait for the end of the body directly to the socket. */
enum MHD_Result http_body_answer_in_time(HttpRequest *r);
enum MHD_Result http_body_piece(HttpRequest *r, const char *data, size_t *size);

/* http-answer.c */
enum MHD_Result http_queue(HttpRequest *r);
void http_refuse(HttpRequest *r, unsigned status, const char *code, const char *message);
void http_answer_done(HttpRequest *r); /* frees a response that was not queued */
