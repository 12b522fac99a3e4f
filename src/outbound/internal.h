/* internal.h: shared by outbound's files. Includes curl.h, so no other room may include it. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "base/clock.h"
#include "outbound/outbound.h"

struct OutboundRequest {
        Outbound *outbound;
        OutboundRequest *prev, *next;
        CURL *easy;
        struct curl_slist *headers, *recipients;
        char *url; /* the current one, after redirects */
        IpReach reach, reach_elsewhere;
        unsigned redirects_max, redirects;
        bool may_proxy, proxied;
        bool mail;
        bool forbidden; /* an address was not allowed */
        int error;      /* why we ended the request; 0: we did not */
        bool finished;  /* its done is being called */

        usec_t stall_usec, moved_at;
        sd_event_source *stall;
        size_t head_size, skipped;
        OutboundHeader on_header;
        OutboundData on_data;

        char *body;
        size_t size, sent;
        int body_fd;

        char *answer; /* allocated with one extra byte for a NUL */
        size_t answer_size, answer_room, answer_max;
        bool cut; /* the response was longer */

        char words[CURL_ERROR_SIZE];
        OutboundDone done;
        void *userdata;
};

/* Once an option has failed, the following ones are skipped. */
#define SET(rc, q, option, value)                                                                            \
        do {                                                                                                 \
                if ((rc) == CURLE_OK)                                                                        \
                        (rc) = curl_easy_setopt((q)->easy, (option), (value));                               \
        } while (0)

/* Sets up everything but the place in the loop. Takes spec->body_fd, also on failure. */
int request_new(const OutboundSpec *spec, OutboundRequest **ret, Error *reterr);
OutboundRequest *request_free(OutboundRequest *q);

/* aim.c: the destination. */

/* Sets the URL, the allowed addresses and the proxy. -EPERM: forbidden already, before any lookup. */
int request_aim(OutboundRequest *q, const char *url, Error *reterr);
/* Call it at the end of a response. 1: a redirect to follow, and the request is aimed at the new URL; 0: the
 * request is complete; negative: the redirect is not allowed, see q->error. */
int request_follow(OutboundRequest *q);
bool request_will_follow(const OutboundRequest *q); /* the response is a redirect, and its body is ignored */
int request_refuse(OutboundRequest *q, int error, const char *words); /* returns `error` */
const char *request_forbidden_words(const OutboundRequest *q); /* the same text whether or not anything listens there */
CURLcode request_guard(OutboundRequest *q); /* installs the checks that allow no connection to an unchecked address */

/* proxy.c: the environment's proxy for this URL; NULL: none. */
const char *proxy_for(CURLU *url);

/* Fills the result. The bytes of the response stay the request's. */
void request_result(OutboundRequest *q, CURLcode code, OutboundResult *ret);
