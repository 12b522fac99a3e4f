/* http.h: the HTTP server. The one door to libmicrohttpd.
 *
 * Listens on TCP, plain and with TLS (https.h), and on a unix socket, in the daemon's event loop, without a
 * thread. It passes requests to the surfaces and takes their answers: whole, from a file, or as a stream that
 * can pause. It enforces the limits on headers, bodies, connections and idle time.
 * Must not know: any route, JSON, sandboxes.
 *
 * The life of a request:
 *
 *      1. route      the surface looks at method and path, and chooses how it gets the body (HttpBodyMode)
 *      2. body       collected up to a limit, or passed on in pieces, which the surface may refuse for now (backpressure)
 *      3. handle     the surface answers at once, or keeps the request and answers later, from any callback of the loop
 *      4. closed     exactly once per request, as the last call: it was answered, or its client is gone
 *
 * While a request is kept, its connection is watched: if the client leaves, `closed` is called at once. A
 * client that only shuts down its sending side still gets its answer (http-connection.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/error.h"

typedef struct HttpServer HttpServer;
typedef struct HttpRequest HttpRequest;

#define HTTP_SMALL_MAX ((size_t) 16 << 10)

typedef enum HttpBodyMode {
        /* No body: with GET, HEAD and DELETE a small one is read and dropped, others are refused (413). */
        HTTP_BODY_NONE,
        HTTP_BODY_COLLECT, /* up to body_max, then handle() */
        HTTP_BODY_STREAM,  /* handle() first, then body() for each piece, and once with size 0 at the end */
} HttpBodyMode;

/* Filled in by the surface in route(). It must set handle, or answer in route() and set nothing. */
typedef struct HttpPlan {
        HttpBodyMode mode;
        size_t body_max; /* collect: larger bodies get 413 */
        void (*handle)(HttpRequest *r, void *userdata);
        /* Returns the number of bytes taken. If fewer than given, the rest is passed again after
         * http_request_continue(). Negative: the request has been answered, drop the rest. */
        ssize_t (*body)(HttpRequest *r, const void *data, size_t size, void *userdata);
        /* Called when an answer is about to be sent: at the first byte of a stream, or with a whole answer
         * complete. At most once, and not if the client has left before. */
        void (*answering)(HttpRequest *r, unsigned status, void *userdata);
        /* Called before a whole answer of more than HTTP_SMALL_MAX bytes is kept in memory until the client
         * has received it, that is, until `closed`. False: not allowed, and a small answer has been given
         * instead. NULL: always allowed. */
        bool (*hold)(HttpRequest *r, size_t size, void *userdata);
        /* answered: the client received all of it, as far as can be known. Also called if route() has
         * answered. */
        void (*closed)(HttpRequest *r, bool answered, void *userdata);
        /* The client is authenticated: if there are too many connections, others are dropped before this one. */
        bool known;
        void *userdata;
} HttpPlan;

typedef void (*HttpRoute)(HttpRequest *r, HttpPlan *plan, void *userdata);

/* Opened in advance by a process with more rights than the server: for a port below 1024, or a directory of
 * root. */
typedef struct HttpSockets {
        int tcp_fd, unix_fd, tls_fd; /* -EBADF: none */
        char *address, *tls_address;
        struct Https *https; /* certificate and key for tls_fd */
} HttpSockets;

#define HTTP_SOCKETS_EMPTY { .tcp_fd = -EBADF, .unix_fd = -EBADF, .tls_fd = -EBADF }

typedef struct HttpConfig {
        const char *address; /* "127.0.0.1:8787", "[::1]:0"; NULL: no TCP */
        bool loopback_only;  /* refuse an address that other hosts can reach */
        const char *tls_address; /* NULL: no TLS */
        const char *tls_certificate, *tls_key; /* files */
        const char *socket_path; /* NULL: none */
        unsigned connections_max; /* of all listeners together */
        unsigned idle_seconds;
        size_t header_max;
        struct Settle *settle; /* core/settle.h; NULL: answers wait for nothing */
} HttpConfig;

/* Uses address, loopback_only and socket_path of the configuration. */
int http_sockets_open(const HttpConfig *config, HttpSockets *ret, Error *reterr);
void http_sockets_close(HttpSockets *s);

/* sockets: opened in advance, taken; NULL: opens them itself. */
int http_server_new(sd_event *event, const HttpConfig *config, HttpSockets *sockets, HttpRoute route, void *userdata,
                HttpServer **ret, Error *reterr);
HttpServer *http_server_free(HttpServer *s);
/* The TCP address with the actual port: "127.0.0.1:8787"; NULL: none. */
const char *http_server_address(const HttpServer *s);
const char *http_server_tls_address(const HttpServer *s); /* the same for TLS */
/* Reads certificate and key again, for new connections. After a failure the old ones stay. 0: no TLS; 1:
 * read. */
int http_server_read_certificate(HttpServer *s, Error *reterr);
/* Takes no new connections; the existing ones may finish. */
void http_server_quiesce(HttpServer *s);

const char *http_method(const HttpRequest *r);
const char *http_path(const HttpRequest *r); /* raw: without the query, not percent-decoded (the router decodes it) */
const char *http_header(const HttpRequest *r, const char *name); /* name: in any case; NULL: absent */
/* In the order of the request, with duplicates. A negative return of `each` ends the walk. */
int http_header_each(const HttpRequest *r, int (*each)(const char *name, const char *value, void *userdata), void *userdata);
/* A decoded query parameter; NULL: absent, "": present without a value. A query with a NUL byte or a bad
 * percent-encoding is refused with 400 before route(). */
const char *http_query(const HttpRequest *r, const char *name);
int http_query_each(const HttpRequest *r, int (*each)(const char *name, const char *value, void *userdata), void *userdata);
bool http_is_secure(const HttpRequest *r);
bool http_peer_is_unix(const HttpRequest *r, uid_t *ret_uid);
/* "127.0.0.1:4711", "[::1]:4711", "unix". */
void http_peer_print(const HttpRequest *r, char *ret, size_t size);
/* The collected body, followed by a NUL. */
const char *http_body(const HttpRequest *r, size_t *ret_size);

/* Headers of the answer; call these before the answer. */
int http_add_header(HttpRequest *r, const char *name, const char *value);
int http_format_header(HttpRequest *r, const char *name, const char *format, ...) _printf_(3, 4);

/* Answers. Each returns 0 or a negative errno (then a 500 was attempted). Once per request. */
int http_answer(HttpRequest *r, unsigned status, const char *type, const void *data, size_t size);          /* copies */
/* Frees the data with free(). */
int http_answer_take(HttpRequest *r, unsigned status, const char *type, char *data, size_t size);
/* With sendfile. Takes the fd. */
int http_answer_fd(HttpRequest *r, unsigned status, const char *type, int fd, uint64_t offset, uint64_t size);

/* A stream. next() fills the buffer and returns the number of bytes; 0: nothing for now (call
 * http_request_continue() later); HTTP_STREAM_END; negative: breaks the connection off, so that the client
 * sees that the answer is incomplete. size UINT64_MAX: unknown, chunked. */
#define HTTP_STREAM_END ((ssize_t) INT64_MAX)
typedef ssize_t (*HttpNext)(HttpRequest *r, uint64_t position, void *buffer, size_t size, void *userdata);
int http_answer_stream(HttpRequest *r, unsigned status, const char *type, uint64_t size, HttpNext next, void *userdata);

/* Call it after next() returned 0, or body() took less than given. Cheap if there is nothing to continue. */
void http_request_continue(HttpRequest *r);

/* Answers 101 and passes the raw socket (non-blocking) on, with the data that the client has sent already.
 * The callee owns the socket until it calls http_upgraded_close(). `closed` is called after that. */
typedef struct HttpUpgraded HttpUpgraded;
typedef void (*HttpUpgrade)(HttpUpgraded *u, int fd, const void *extra, size_t extra_size, void *userdata);
int http_answer_upgrade(HttpRequest *r, const char *protocol, HttpUpgrade upgraded, void *userdata);
void http_upgraded_close(HttpUpgraded *u);
