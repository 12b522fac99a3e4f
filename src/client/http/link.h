/* link.h: the way to one command that runs in a sandbox.
 *
 * Output comes in by way of the handlers; input, signals and window sizes go out. Two ways there are: plain HTTP with a stream of
 * events (a command that ends with us: link-http.c), and a WebSocket (terminals, and commands that were there before us:
 * link-websocket.c). A link is driven from its user's poll loop and never blocks.
 * Must not know: our own terminal, signals that reach us, exit statuses. */
#pragma once

#include <poll.h>

#include "client/client.h"

#define LINK_POLLS 6

typedef struct Link Link;

typedef struct LinkHandlers {
        /* stream 0: stdout, 1: stderr. A negative answer breaks the link off with it. */
        int (*output)(void *userdata, unsigned stream, const void *data, size_t size);
        /* True: bring no more for now. */
        bool (*is_full)(void *userdata);
        void *userdata;
} LinkHandlers;

typedef struct LinkOps {
        void (*poll)(Link *l, struct pollfd ret[static LINK_POLLS]); /* unused ones have fd -1 */
        /* After poll(2), and whenever the timeout is over. 1: the command has ended, see end. Negative: the link is lost, or never
         * came about; the error says why. */
        int (*step)(Link *l, const struct pollfd polls[static LINK_POLLS], Error *reterr);
        int (*timeout_msec)(const Link *l); /* -1: none */
        bool (*takes_input)(const Link *l);
        int (*input)(Link *l, const void *data, size_t size); /* size 0: the end of it. Only when it takes some */
        int (*signal)(Link *l, int signal);
        int (*resize)(Link *l, unsigned columns, unsigned rows);
        void (*done)(Link *l); /* what is its own */
        size_t size;           /* of the whole struct, which begins with a Link */
} LinkOps;

/* Of the functions that begin with the way's name. */
#define LINK_OPS(way, type)                                                                                             \
        {                                                                                                               \
                .poll = way##_poll, .step = way##_step, .timeout_msec = way##_timeout, .takes_input = way##_takes_input, \
                .input = way##_input, .signal = way##_signal, .resize = way##_resize, .done = way##_done, .size = sizeof(type) \
        }

struct Link {
        const LinkOps *ops;
        LinkHandlers handlers;
        const Place *place;
        char *sandbox;
        char *execution; /* NULL: has not started yet */
        json_t *end;     /* how it ended */
        bool refused;    /* the daemon said no, and that has been told */
        bool gone;       /* the sandbox is not there any more */
};

/* NULL: no memory. execution NULL: it is not known yet. The rest is zero. */
void *link_make(const LinkOps *ops, const Place *place, const char *sandbox, const char *execution);
Link *link_free(Link *l);
static inline void link_freep(Link **l) {
        *l = link_free(*l);
}
#define _cleanup_link_ _cleanup_(link_freep)

/* For the two ways: the daemon has told the id, or refuses, which is told. */
int link_begin(Link *l, const char *execution);
int link_refuse(Link *l, const Answer *a, Error *reterr);

/* Starts a command that ends when we go. The body is the request's, and taken. */
Link *link_http_new(const Place *place, const char *sandbox, char *body);

/* Follows a command that was started before: its output from the beginning, no input. follow: until its end, else until what is
 * there has been shown. */
Link *link_http_follow(const Place *place, const char *sandbox, const char *execution, bool follow);

/* A terminal, or a command that runs already: the path of the WebSocket tells which (NULL: there was no memory for it). execution NULL: the first message does. */
Link *link_websocket_new(const Place *place, const char *sandbox, const char *execution, const char *path);
