/* outbound.h: the one door to libcurl, and the one way of our programs to others: requests, and mail.
 *
 * Everything goes through the loop; nothing waits. A request is tried once: trying again is delivery.h's. Its maker says which addresses it may reach, how
 * many redirects are followed, whether there may be a proxy, whose certificates count, how long it may take and how much may come back; who says nothing
 * gets the least. The rest is the same for all:
 *
 *      The address that a name has led to is asked about (base/address.h) and then connected to; it is not looked up again. A connection that was
 *      left open by another request is asked about as well. What is refused was not touched, and is told in the same words whoever listens there.
 *      Each redirect is a request of its own: it is asked about anew, leads from https to https only, has no name or password in it, and
 *      takes credentials along only where scheme, host and port stay the same.
 *      TLS from 1.2 on; http, https, smtp and smtps only; a head of 256 KiB at most.
 *
 * Names are looked up in threads of libcurl's: the only ones that the daemon has.
 * Must not know: alerts, agents, registries, what is being sent. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/ip.h"
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

/* The answer as it comes. name NULL: a head begins, as one does after each redirect. A negative errno ends the request with it. */
typedef void (*OutboundHeader)(const char *name, const char *value, void *userdata);
typedef int (*OutboundData)(unsigned status, const void *data, size_t size, void *userdata);

typedef struct OutboundSpec {
        const char *method;      /* NULL: POST */
        const char *url;         /* http, https; smtp, smtps for mail */
        const char *const *headers; /* "Name: value", NULL-terminated; NULL: none */
        const void *body;        /* copied */
        size_t size;
        int body_fd;             /* instead of body, if >= 0: a file, sent from its beginning; taken (closed by us, also on failure) */
        /* Where to. What is out of reach is -EPERM, and final. */
        IpReach reach, reach_elsewhere; /* of the URL, and of what it redirects to */
        unsigned redirects_max;  /* of GET and HEAD; 0: a redirect is an answer like others */
        bool proxy;              /* by the one that the environment names, if any (proxy.c): then it is the proxy that looks names up */
        const char *ca;          /* authorities that count beside the system's; NULL: none */
        bool unchecked;          /* any certificate will do */
        /* How long, how much. */
        usec_t timeout_usec;     /* 0: 10 s (B2 153); USEC_INFINITY: none */
        usec_t stall_usec;       /* for which nothing may move; 0: any */
        size_t answer_max;       /* 0: 64 KiB; what is beyond is cut off */
        OutboundHeader on_header; /* NULL: nobody asks */
        OutboundData on_data;    /* NULL: into the result */
        /* S3 and the like: "aws:amz:REGION:s3" with user:secret; libcurl signs. */
        const char *sigv4, *access_key, *secret_key;
        /* Mail. */
        const char *mail_from;
        const Strv *mail_to;
        const char *user, *password;
        int starttls;            /* 1: required; with a user always */
} OutboundSpec;

#define OUTBOUND_SPEC(where) { .body_fd = -EBADF, .reach = (where) }

/* -EINVAL: the URL, a header or an address cannot be. -EBUSY: too much is under way. */
int outbound_send(Outbound *o, const OutboundSpec *spec, OutboundDone done, void *userdata, OutboundRequest **ret, Error *reterr);
void outbound_cancel(OutboundRequest *r); /* done is not called any more */
uint64_t outbound_sent(const OutboundRequest *r); /* of the body */

/* URLs. What is returned is the caller's; NULL: no memory, or no URL. */
bool outbound_same_origin(const char *a, const char *b); /* scheme, host and port */
char *outbound_url_join(const char *base, const char *location);
char *outbound_escape(const char *text); /* for a query */
