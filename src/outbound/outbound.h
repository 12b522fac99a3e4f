/* outbound.h: outgoing HTTP requests and mail. The one door to libcurl, and the only way of our programs to
 * other servers.
 *
 * All requests run in the loop; no call blocks. A request is tried once; delivery.h does retries. The caller
 * says which addresses the request may reach, how many redirects are followed, whether a proxy may be used,
 * which CAs are trusted, how long the request may take and how large the response may be. The defaults are
 * the strictest. The rest is the same for all requests:
 *
 *      The address that a name resolves to is checked (base/address.h), and then that address is connected to; the name is not looked up again.
 *      A reused connection of another request is checked as well. A forbidden address is not contacted, and the error is the same whether
 *      or not anything listens there.
 *      Each redirect is a request of its own: its address is checked anew. It leads from https to https only, contains no user name or
 *      password, and keeps credentials only if scheme, host and port are the same.
 *      TLS 1.2 or later; http, https, smtp and smtps only; response headers of 256 KiB at most.
 *
 * libcurl looks names up in threads: the only threads of the daemon.
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
Outbound *outbound_free(Outbound *o); /* cuts off requests that are under way; their done is not called */

/* Called before anything is sent, so that what is told has been written first. */
void outbound_set_before(Outbound *o, void (*before)(void *userdata), void *userdata);

typedef struct OutboundResult {
        int error;       /* 0, or a negative errno: no response. -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH, -EPROTO, … */
        char text[256];  /* the failure, for messages; "" if none */
        unsigned status; /* HTTP status; for mail: 0 on success, else the server's code, or 0 */
        usec_t retry_after_usec; /* the server's Retry-After; 0: none */
        bool final;      /* a retry would fail the same way */
        const char *body; /* NUL-terminated after `size` bytes; valid during the call only */
        size_t size;
} OutboundResult;

/* Called exactly once, never before outbound_send() has returned. */
typedef void (*OutboundDone)(const OutboundResult *result, void *userdata);

/* The response as it arrives. name NULL: a new head begins, also after each redirect. A negative errno from
 * OutboundData ends the request. */
typedef void (*OutboundHeader)(const char *name, const char *value, void *userdata);
typedef int (*OutboundData)(unsigned status, const void *data, size_t size, void *userdata);

typedef struct OutboundSpec {
        const char *method;      /* NULL: POST */
        const char *url;         /* http, https; smtp, smtps for mail */
        const char *const *headers; /* "Name: value", NULL-terminated; NULL: none */
        const void *body;        /* copied */
        size_t size;
        int body_fd;             /* >= 0: a file, sent from its beginning in place of body; always closed by us */
        /* Destination. An address out of reach is -EPERM, and final. */
        IpReach reach, reach_elsewhere; /* of the URL, and of its redirects */
        unsigned redirects_max;  /* for GET and HEAD; 0: a redirect is a response like others */
        bool proxy;              /* use the environment's proxy, if any (proxy.c); the proxy then looks names up */
        const char *ca;          /* CAs that are trusted beside the system's; NULL: none */
        bool unchecked;          /* accept any certificate */
        /* Limits. */
        usec_t timeout_usec;     /* 0: 10 s (B2 153); USEC_INFINITY: none */
        usec_t stall_usec;       /* longest time without any byte; 0: no limit */
        size_t answer_max;       /* 0: 64 KiB; the rest is cut off */
        OutboundHeader on_header; /* NULL: not needed */
        OutboundData on_data;    /* NULL: collect in the result */
        /* S3 and the like: "aws:amz:REGION:s3" with user:secret; libcurl signs. */
        const char *sigv4, *access_key, *secret_key;
        /* Mail. */
        const char *mail_from;
        const Strv *mail_to;
        const char *user, *password;
        int starttls;            /* 1: required; with a user always */
} OutboundSpec;

#define OUTBOUND_SPEC(where) { .body_fd = -EBADF, .reach = (where) }

/* -EINVAL: the URL, a header or an address is invalid. -EBUSY: too many requests are under way. */
int outbound_send(Outbound *o, const OutboundSpec *spec, OutboundDone done, void *userdata, OutboundRequest **ret, Error *reterr);
void outbound_cancel(OutboundRequest *r); /* done is not called */
uint64_t outbound_sent(const OutboundRequest *r); /* bytes of the body */

/* URLs. The caller frees the returned strings; NULL: out of memory, or not a URL. */
bool outbound_same_origin(const char *a, const char *b); /* scheme, host and port */
char *outbound_url_join(const char *base, const char *location);
char *outbound_escape(const char *text); /* for a query */
