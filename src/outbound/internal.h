/* internal.h: what outbound's files share. Includes curl.h: for files of this folder only. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

#include "outbound/outbound.h"

struct OutboundRequest {
        Outbound *outbound;
        OutboundRequest *prev, *next;
        CURL *easy;
        struct curl_slist *headers, *recipients;
        bool mail;
        bool forbidden; /* the address was one that it may not have */
        bool finished; /* its done is being called */

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

/* Everything of the request but its place in the loop. Takes spec->body_fd in any case. */
int request_new(const OutboundSpec *spec, OutboundRequest **ret, Error *reterr);
OutboundRequest *request_free(OutboundRequest *q);

/* What has become of it. The answer's bytes stay the request's. */
void request_result(OutboundRequest *q, CURLcode code, OutboundResult *ret);
