/* exchange.h: HTTP requests and their responses, several at once, for blocking callers. outbound.h sends
 * them.
 *
 * The caller fills in the request and starts it; exchanges_wait() returns it when it has ended, successfully
 * or not. Redirects (GET, HEAD) are followed, but never to this machine unless the first request went there
 * as well. Every exchange ends: no byte for the stall time is -ETIMEDOUT.
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

/* Called with the bytes of a 2xx response. A negative errno ends the exchange. */
typedef int (*ExchangeData)(Exchange *x, const void *data, size_t size);

struct Exchange {
        /* The request. Strings are copied at the start, the body is not. */
        const char *method; /* NULL: GET */
        const char *url;
        const char *authorization;        /* the header's value; NULL: none */
        const char *accept, *content_type;
        uint64_t from;                    /* for Range; 0: none */
        const void *body;
        int body_fd;                      /* read with pread(); < 0: use `body` */
        uint64_t body_size;
        bool has_body;
        bool elsewhere;                   /* the URL comes from a server, so it may not lead to this machine */
        ExchangeData on_data;             /* NULL: collect in `answer` */
        size_t answer_max;
        void *userdata;
        unsigned login;                   /* the caller's, not used here: */
        bool begun;

        /* The response. */
        int error;     /* 0: there is a status */
        char words[256];
        int status;
        Text answer;         /* of a refusal: the beginning only */
        char type[128];      /* Content-Type, without parameters */
        char digest[96];     /* Docker-Content-Digest */
        char location[4096];
        char challenge[4096]; /* WWW-Authenticate; the Bearer one if there are several */
        uint64_t length;     /* Content-Length; UINT64_MAX: absent */
        uint64_t range_from; /* from Content-Range; UINT64_MAX: absent */
        usec_t retry_after;
        uint64_t sent;       /* bytes of the body */

        bool cut;            /* the body of a refusal was too long and was cut off */
        OutboundRequest *request;
        Exchanges *exchanges;
        Exchange *next;
};

#define EXCHANGE_INIT { .body_fd = -EBADF }

void exchange_done(Exchange *x);
#define _cleanup_exchange_ _cleanup_(exchange_done)

typedef struct ExchangeSettings {
        const char *ca;  /* NULL: the system's CAs */
        bool unchecked;  /* accept any certificate */
        bool inside;     /* redirects to this machine are allowed */
        bool outside;    /* the first request may not go to this machine either */
        usec_t stall_usec;
} ExchangeSettings;

int exchanges_new(const ExchangeSettings *settings, Exchanges **ret, Error *reterr);
Exchanges *exchanges_free(Exchanges *e);
void exchanges_freep(Exchanges **e);

int exchange_start(Exchanges *e, Exchange *x, Error *reterr);
/* Returns an exchange that has ended, or NULL after the timeout. */
Exchange *exchanges_wait(Exchanges *e, usec_t timeout_usec);
/* Cancels the exchange if it is under way. */
void exchange_stop(Exchange *x);
