/* link.h: the connection to one command in a sandbox.
 *
 * Output arrives through the handlers; input, signals and window sizes are sent. There are two
 * implementations: plain HTTP with a stream of events (a command that ends with the client: link-http.c), and
 * a WebSocket (terminals, and commands that were started earlier: link-websocket.c). A link is driven from
 * its user's poll loop and never blocks.
 * Must not know: the client's own terminal and signals, exit statuses. */
#pragma once

#include <poll.h>

#include "client/client.h"

#define LINK_POLLS 6

typedef struct Link Link;

typedef struct LinkHandlers {
        /* stream 0: stdout, 1: stderr. A negative result breaks the link off, and is returned. */
        int (*output)(void *userdata, unsigned stream, const void *data, size_t size);
        /* True: deliver no more for now. */
        bool (*is_full)(void *userdata);
        void *userdata;
} LinkHandlers;

typedef struct LinkOps {
        void (*poll)(Link *l, struct pollfd ret[static LINK_POLLS]); /* unused ones have fd -1 */
        /* Call after poll(2), and when the timeout is over. 1: the command has ended, see end. Negative: the
         * link was lost, or could not be established; see the error. */
        int (*step)(Link *l, const struct pollfd polls[static LINK_POLLS], Error *reterr);
        int (*timeout_msec)(const Link *l); /* -1: none */
        bool (*takes_input)(const Link *l);
        int (*input)(Link *l, const void *data, size_t size); /* size 0: the end of input. Only if takes_input() */
        int (*signal)(Link *l, int signal);
        int (*resize)(Link *l, unsigned columns, unsigned rows);
        void (*done)(Link *l); /* frees the implementation's own members */
        size_t size;           /* of the whole struct, which begins with a Link */
} LinkOps;

/* Fills in the functions that begin with the implementation's name. */
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
        char *execution; /* NULL: not started yet */
        json_t *end;     /* how it ended */
        bool refused;    /* the daemon refused, and this has been reported */
        bool gone;       /* the sandbox does not exist any more */
};

/* NULL: out of memory. execution NULL: not known yet. The other members are zero. */
void *link_make(const LinkOps *ops, const Place *place, const char *sandbox, const char *execution);
Link *link_free(Link *l);
static inline void link_freep(Link **l) {
        *l = link_free(*l);
}
#define _cleanup_link_ _cleanup_(link_freep)

/* For the implementations: the daemon has sent the id, or refused; link_refuse() reports the refusal. */
int link_begin(Link *l, const char *execution);
int link_refuse(Link *l, const Answer *a, Error *reterr);

/* Starts a command that ends with the client. body: of the request; ownership is taken. */
Link *link_http_new(const Place *place, const char *sandbox, char *body);

/* Follows a command that was started earlier: its output from the beginning, no input. follow: until its end;
 * otherwise until the existing output has been shown. */
Link *link_http_follow(const Place *place, const char *sandbox, const char *execution, bool follow);

/* Connects to a terminal, or to a running command; path: of the WebSocket (NULL: out of memory). execution
 * NULL: the first message names it. */
Link *link_websocket_new(const Place *place, const char *sandbox, const char *execution, const char *path);
