/* internal.h: what outbound's files share. Includes curl.h: for files of this folder only. */
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
        char *url; /* where it is now */
        IpReach reach, reach_elsewhere;
        unsigned redirects_max, redirects;
        bool may_proxy, proxied;
        bool mail;
        bool forbidden; /* an address was one that it may not have */
        int error;      /* why we ended it; 0: we did not */
        bool finished;  /* its done is being called */

        usec_t stall_usec, moved_at;
        sd_event_source *stall;
        size_t head_size, skipped;
        OutboundHeader on_header;
        OutboundData on_data;

        char *body;
        size_t size, sent;
        int body_fd;

        char *answer; /* one byte more than answer_max, for a NUL */
        size_t answer_size, answer_room, answer_max;
        bool cut; /* there was more */

        char words[CURL_ERROR_SIZE];
        OutboundDone done;
        void *userdata;
};

/* The first refusal of libcurl's sticks. */
#define SET(rc, q, option, value)                                                                            \
        do {                                                                                                 \
                if ((rc) == CURLE_OK)                                                                        \
                        (rc) = curl_easy_setopt((q)->easy, (option), (value));                               \
        } while (0)

/* Everything of the request but its place in the loop. Takes spec->body_fd in any case. */
int request_new(const OutboundSpec *spec, OutboundRequest **ret, Error *reterr);
OutboundRequest *request_free(OutboundRequest *q);

/* aim.c: where it goes. */

/* Sets the URL, what may be reached there, and by which proxy. -EPERM: what is known before any look-up forbids it. */
int request_aim(OutboundRequest *q, const char *url, Error *reterr);
/* It has been answered. 1: by a redirect that is to be followed, and it is aimed there; 0: that was all; negative: it may not go there, see q->error. */
int request_follow(OutboundRequest *q);
bool request_will_follow(const OutboundRequest *q); /* what is being answered is of no interest */
int request_refuse(OutboundRequest *q, int error, const char *words); /* returns the error */
const char *request_forbidden_words(const OutboundRequest *q); /* the same, whoever listens there */
CURLcode request_guard(OutboundRequest *q); /* nothing is connected to that was not asked about */

/* proxy.c: the environment's for this; NULL: none. */
const char *proxy_for(CURLU *url);

/* What has become of it. The answer's bytes stay the request's. */
void request_result(OutboundRequest *q, CURLcode code, OutboundResult *ret);
