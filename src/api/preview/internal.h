/* internal.h: shared by the files of an exchange. */
#pragma once

#include "api/preview/preview.h"
#include "gate/http/http-frame.h"

#define PREVIEW_OUT_MAX  ((size_t) 256 << 10) /* buffered for the server inside */
#define PREVIEW_IN_MAX   ((size_t) 128 << 10) /* buffered for the client; a response head must fit */

typedef enum PreviewPhase {
        PREVIEW_CONNECTING,
        PREVIEW_HEAD,   /* awaiting the response head; the request body may still be under way */
        PREVIEW_BODY,   /* forwarding the response body */
        PREVIEW_ENDED,  /* all has been read */
} PreviewPhase;

/* One request and its response. Lives as long as its ApiRequest. */
typedef struct PreviewExchange {
        ApiRequest *q;
        ApiTarget target;
        PreviewAccess access;
        PreviewPhase phase;
        int fd; /* connected to the port inside */
        sd_event_source *io;
        uint32_t watched;

        Text out;
        bool chunked_out, body_ended, body_waits; /* of the request */

        uint8_t *in;
        size_t in_size;
        bool in_ended, answer_waits;
        size_t scanned;
        HttpFrame frame;     /* of the response */
        /* "/preview/ID/PORT", with the link if it is part of the path. */
        char prefix[PREVIEW_TOKEN_MAX + API_TARGET_ID_MAX + 33];
} PreviewExchange;

/* request.c: the request head for the server inside. */
int preview_request_put(PreviewExchange *x);
void preview_put_query(const ApiRequest *q, Text *out); /* "?…" without our own parameters; nothing if none is left */

/* response.c: -EAGAIN: more bytes are needed; -EBADMSG: invalid response; 0: answered; 1: became a tunnel,
 * and has been freed. */
int preview_response_begin(PreviewExchange *x);

/* exchange.c */
int preview_exchange_to_tunnel(PreviewExchange *x, const char *protocol); /* 1, or a negative errno */
void preview_exchange_watch(PreviewExchange *x);
ssize_t preview_body_next(HttpRequest *r, uint64_t position, void *buffer, size_t size, void *userdata);

/* tunnel.c: takes fd; runs on its own until both sides have ended. */
int preview_tunnel_start(ApiRequest *q, const char *protocol, int fd, const void *early, size_t early_size);
