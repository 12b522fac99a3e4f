/* http.h: the one door to libmicrohttpd.
 *
 * Listens on TCP, plain and with TLS (https.h), and on a unix socket, in the daemon's one event loop, without a thread. Gives the surfaces requests and takes
 * answers: whole, from a file, or as a stream that stops and goes on. Limits on headers, bodies, connections and idle time are
 * kept here.
 * Must not know: any route, JSON, sandboxes.
 *
 * The life of a request:
 *
 *      1. route      the surface looks at method and path, and says how the body shall come (http_body_mode)
 *      2. body       collected up to a ceiling, or handed on in pieces that may be refused for now (backpressure)
 *      3. handle     the surface answers at once, or keeps the request and answers later, from any callback of the loop
 *      4. closed     exactly once per request, last: by then it was answered, or its client is gone
 *
 * While a request is kept, its connection is watched: a client that goes away is told by `closed` at once. One that only says that
 * it will send no more still waits for its answer (http-connection.c). */
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
        HTTP_BODY_NONE,    /* none is wanted: with GET, HEAD and DELETE a small one is read and dropped, all others are refused (413) */
        HTTP_BODY_COLLECT, /* up to body_max, then handle() */
        HTTP_BODY_STREAM,  /* handle() first, then body() for each piece and once with size 0 at its end */
} HttpBodyMode;

/* What the surface says in route(). It must set handle, or answer in route() and set nothing. */
typedef struct HttpPlan {
        HttpBodyMode mode;
        size_t body_max; /* collect: -> 413 beyond */
        void (*handle)(HttpRequest *r, void *userdata);
        /* Returns how many bytes were taken; fewer than given: the rest comes again after http_request_continue(). Negative: the
         * request has been answered, drop the rest. */
        ssize_t (*body)(HttpRequest *r, const void *data, size_t size, void *userdata);
        /* There is an answer, about to go out: a stream's first byte, a whole answer's all. At most once; not when the client left before. */
        void (*answering)(HttpRequest *r, unsigned status, void *userdata);
        /* A whole answer of more than HTTP_SMALL_MAX bytes is about to be kept in memory until the client has it, which is when `closed` is called. False:
         * it may not be, and something small has been answered instead. NULL: it always may. */
        bool (*hold)(HttpRequest *r, size_t size, void *userdata);
        /* answered: the client got all of it, as far as can be known. Called also when route() has answered. */
        void (*closed)(HttpRequest *r, bool answered, void *userdata);
        bool known; /* whoever asks has proved who he is: his connection is not the first to go when there are too many */
        void *userdata;
} HttpPlan;

typedef void (*HttpRoute)(HttpRequest *r, HttpPlan *plan, void *userdata);

/* Opened ahead, by somebody who may do more than the server: a port below 1024, a directory that is root's. */
typedef struct HttpSockets {
        int tcp_fd, unix_fd, tls_fd; /* -EBADF: none */
        char *address, *tls_address;
        struct Https *https; /* certificate and key of tls_fd */
} HttpSockets;

#define HTTP_SOCKETS_EMPTY { .tcp_fd = -EBADF, .unix_fd = -EBADF, .tls_fd = -EBADF }

typedef struct HttpConfig {
        const char *address; /* "127.0.0.1:8787", "[::1]:0"; NULL: no TCP */
        bool loopback_only;  /* refuse an address that others can reach */
        const char *tls_address; /* NULL: no TLS */
        const char *tls_certificate, *tls_key; /* files */
        const char *socket_path; /* NULL: none */
        unsigned connections_max; /* of all listeners together */
        unsigned idle_seconds;
        size_t header_max;
} HttpConfig;

/* By address, loopback_only and socket_path of the configuration. */
int http_sockets_open(const HttpConfig *config, HttpSockets *ret, Error *reterr);
void http_sockets_close(HttpSockets *s);

/* Takes what was opened ahead; NULL: opens by itself. */
int http_server_new(sd_event *event, const HttpConfig *config, HttpSockets *sockets, HttpRoute route, void *userdata,
                HttpServer **ret, Error *reterr);
HttpServer *http_server_free(HttpServer *s);
/* Where TCP listens, with the real port: "127.0.0.1:8787"; NULL: nowhere. */
const char *http_server_address(const HttpServer *s);
const char *http_server_tls_address(const HttpServer *s); /* likewise, with TLS */
/* Certificate and key once more, for connections from now on; when it fails, the old ones stay. 0: there are none, 1: read. */
int http_server_read_certificate(HttpServer *s, Error *reterr);
/* Takes no connections any more; those there are may finish. */
void http_server_quiesce(HttpServer *s);

const char *http_method(const HttpRequest *r);
const char *http_path(const HttpRequest *r); /* percent-decoding is the router's; this is raw, without the query */
const char *http_header(const HttpRequest *r, const char *name); /* any case; NULL: absent */
/* In the order in which they came, each as often as it came. each < 0 ends it. */
int http_header_each(const HttpRequest *r, int (*each)(const char *name, const char *value, void *userdata), void *userdata);
/* Query, decoded; NULL: absent, "" : present without value. -EILSEQ values (NUL inside) are refused with 400 before route(). */
const char *http_query(const HttpRequest *r, const char *name);
int http_query_each(const HttpRequest *r, int (*each)(const char *name, const char *value, void *userdata), void *userdata);
bool http_is_secure(const HttpRequest *r);
bool http_peer_is_unix(const HttpRequest *r, uid_t *ret_uid);
/* "127.0.0.1:4711", "[::1]:4711", "unix". */
void http_peer_print(const HttpRequest *r, char *ret, size_t size);
/* Collected body; terminated by a NUL beyond its size. */
const char *http_body(const HttpRequest *r, size_t *ret_size);

/* Answer headers, before the answer. */
int http_add_header(HttpRequest *r, const char *name, const char *value);
int http_format_header(HttpRequest *r, const char *name, const char *format, ...) _printf_(3, 4);

/* Answers. Each returns 0 or a negative errno (then a 500 has been tried). Once per request. */
int http_answer(HttpRequest *r, unsigned status, const char *type, const void *data, size_t size);          /* copies */
int http_answer_take(HttpRequest *r, unsigned status, const char *type, char *data, size_t size);           /* frees it (malloc) */
int http_answer_fd(HttpRequest *r, unsigned status, const char *type, int fd, uint64_t offset, uint64_t size); /* sendfile; takes the fd */

/* A stream. next() fills the buffer: > 0 bytes, 0: nothing for now (http_request_continue() when there is), HTTP_STREAM_END,
 * negative: break the connection off, so that the client sees that it is not whole. size UINT64_MAX: unknown, chunked. */
#define HTTP_STREAM_END ((ssize_t) INT64_MAX)
typedef ssize_t (*HttpNext)(HttpRequest *r, uint64_t position, void *buffer, size_t size, void *userdata);
int http_answer_stream(HttpRequest *r, unsigned status, const char *type, uint64_t size, HttpNext next, void *userdata);

/* After a stream's next() said 0, or body() took less than it was given. Cheap when there is nothing to continue. */
void http_request_continue(HttpRequest *r);

/* 101 and the bare socket (non-blocking), with what the client has sent already. The socket is the callee's until it calls
 * http_upgraded_close(). `closed` is called after that. */
typedef struct HttpUpgraded HttpUpgraded;
typedef void (*HttpUpgrade)(HttpUpgraded *u, int fd, const void *extra, size_t extra_size, void *userdata);
int http_answer_upgrade(HttpRequest *r, const char *protocol, HttpUpgrade upgraded, void *userdata);
void http_upgraded_close(HttpUpgraded *u);
