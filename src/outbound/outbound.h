/* outbound.h: the one door to libcurl: requests of the daemon to others, and mail.
 *
 * Everything goes through the loop; nothing waits. A request has a time limit, a limit on what comes back, and is tried once:
 * trying again is delivery.h's. TLS is verified always, against the system's certificates. No redirects, no proxies from the
 * environment. Names are looked up in threads of libcurl's: the only ones that the daemon has.
 * Must not know: alerts, agents, what is being sent. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"

typedef struct Outbound Outbound;
typedef struct OutboundRequest OutboundRequest;

int outbound_new(sd_event *event, Outbound **ret, Error *reterr);
Outbound *outbound_free(Outbound *o); /* what is under way is cut off without a word */

typedef struct OutboundResult {
        int error;       /* 0, or a negative errno: there was no answer. -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH, -EPROTO, … */
        char text[256];  /* what went wrong, for a person; "" when nothing did */
        unsigned status; /* HTTP; of mail: 0 when it went well, else what the server refused with, or 0 */
        usec_t retry_after_usec; /* what the server asked for; 0: nothing */
        bool final;      /* it would be the same again */
        const char *body; /* terminated by a NUL beyond its size; only for the call */
        size_t size;
} OutboundResult;

/* Exactly once, never before the call that asked has returned. */
typedef void (*OutboundDone)(const OutboundResult *result, void *userdata);

typedef struct OutboundSpec {
        const char *method;      /* NULL: POST */
        const char *url;         /* http, https; smtp, smtps for mail */
        const char *const *headers; /* "Name: value", NULL-terminated; NULL: none */
        const void *body;        /* copied */
        size_t size;
        int body_fd;             /* instead of body, if >= 0: a file, sent from its beginning; taken (closed by us, also on failure) */
        usec_t timeout_usec;     /* 0: 10 s (B2 153) */
        size_t answer_max;       /* 0: 64 KiB; what is beyond is cut off */
        bool public_only;        /* who asks is not trusted: never to this machine, nor to a private network (address.h), whatever the
                                  * name is looked up to; then error is -EPERM, and the answer is final */
        /* S3 and the like: "aws:amz:REGION:s3" with user:secret; libcurl signs. */
        const char *sigv4, *access_key, *secret_key;
        /* Mail. */
        const char *mail_from;
        const Strv *mail_to;
        const char *user, *password;
        int starttls;            /* 1: required; with a user always */
} OutboundSpec;

#define OUTBOUND_SPEC_INIT { .body_fd = -EBADF }

/* -EINVAL: the URL, a header or an address cannot be. -EBUSY: too much is under way. */
int outbound_send(Outbound *o, const OutboundSpec *spec, OutboundDone done, void *userdata, OutboundRequest **ret, Error *reterr);
void outbound_cancel(OutboundRequest *r); /* done is not called any more */
