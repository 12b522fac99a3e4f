/* exchange.h: HTTP requests and their answers, several at once, to be waited for; outbound.h makes them.
 *
 * The caller fills in the question and starts it; exchanges_wait() gives it back when it is over, one way or another. Redirects (GET, HEAD) are followed, never to
 * this machine unless the first request went there as well. Nothing goes on without an end: no byte for the stall time is -ETIMEDOUT.
 * Must not know: registries, tokens, blobs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "outbound/outbound.h"
#include "registry/digest.h"

typedef struct Exchange Exchange;
typedef struct Exchanges Exchanges;

/* Bytes of a good answer (2xx). A negative errno ends the exchange with it. */
typedef int (*ExchangeData)(Exchange *x, const void *data, size_t size);

struct Exchange {
        /* The question. Texts are copied at the start, the body is not. */
        const char *method; /* NULL: GET */
        const char *url;
        const char *authorization;        /* the header's value; NULL: none */
        const char *accept, *content_type;
        uint64_t from;                    /* Range; 0: none */
        const void *body;
        int body_fd;                      /* read by pread; < 0: body is it */
        uint64_t body_size;
        bool has_body;
        bool elsewhere;                   /* somebody else's words led here, so that it may not be this machine */
        ExchangeData on_data;             /* NULL: into `answer` */
        size_t answer_max;
        void *userdata;
        unsigned login;                   /* the caller's, as is: */
        bool begun;

        /* The answer. */
        int error;     /* 0: there is a status */
        char words[256];
        int status;
        Text answer;         /* of a bad one: the beginning */
        char type[128];      /* Content-Type, without parameters */
        char digest[96];     /* Docker-Content-Digest */
        char location[4096];
        char challenge[4096]; /* WWW-Authenticate; Bearer, where there are several */
        uint64_t length;     /* Content-Length; UINT64_MAX: not said */
        uint64_t range_from; /* Content-Range; UINT64_MAX: none */
        usec_t retry_after;
        uint64_t sent;       /* of the body */

        bool cut;            /* there is more of a refusal than anybody wants to read */
        OutboundRequest *request;
        Exchanges *exchanges;
        Exchange *next;
};

#define EXCHANGE_INIT { .body_fd = -EBADF }

void exchange_done(Exchange *x);
#define _cleanup_exchange_ _cleanup_(exchange_done)

typedef struct ExchangeSettings {
        const char *ca;  /* NULL: the system's */
        bool unchecked;  /* any certificate will do */
        bool inside;     /* redirects to this machine are all right */
        bool outside;    /* not even what was asked for may be this machine */
        usec_t stall_usec;
} ExchangeSettings;

int exchanges_new(const ExchangeSettings *settings, Exchanges **ret, Error *reterr);
Exchanges *exchanges_free(Exchanges *e);
void exchanges_freep(Exchanges **e);

int exchange_start(Exchanges *e, Exchange *x, Error *reterr);
/* One that is over, or NULL when the time is. */
Exchange *exchanges_wait(Exchanges *e, usec_t timeout_usec);
/* Takes it back when it is under way. */
void exchange_stop(Exchange *x);
