/* internal.h: what the files of one exchange share. */
#pragma once

#include "api/preview/preview.h"
#include "gate/http/http-frame.h"

#define PREVIEW_OUT_MAX  ((size_t) 256 << 10) /* on its way inside */
#define PREVIEW_IN_MAX   ((size_t) 128 << 10) /* on its way out; a head must fit */

typedef enum PreviewPhase {
        PREVIEW_CONNECTING,
        PREVIEW_HEAD,   /* of the answer is awaited; the body of the request may still be on its way */
        PREVIEW_BODY,   /* of the answer */
        PREVIEW_ENDED,  /* everything was read */
} PreviewPhase;

/* One request and its answer. Lives as long as its ApiRequest. */
typedef struct PreviewExchange {
        ApiRequest *q;
        ApiTarget target;
        PreviewAccess access;
        PreviewPhase phase;
        int fd; /* to the port inside */
        sd_event_source *io;
        uint32_t watched;

        Text out;
        bool chunked_out, body_ended, body_waits; /* of the request */

        uint8_t *in;
        size_t in_size;
        bool in_ended, answer_waits;
        size_t scanned;
        HttpFrame frame;     /* of the answer */
        char prefix[PREVIEW_TOKEN_MAX + API_TARGET_ID_MAX + 33]; /* "/preview/ID/PORT", with the link where it is part of the path */
} PreviewExchange;

/* request.c: the head that goes inside. */
int preview_request_put(PreviewExchange *x);
void preview_put_query(const ApiRequest *q, Text *out); /* "?…" without what is ours; nothing where nothing is left */

/* response.c: -EAGAIN: more bytes are needed; -EBADMSG: rubbish; 0: answered; 1: became a tunnel, and is gone. */
int preview_response_begin(PreviewExchange *x);

/* exchange.c */
int preview_exchange_to_tunnel(PreviewExchange *x, const char *protocol); /* 1, or a negative errno */
void preview_exchange_watch(PreviewExchange *x);
ssize_t preview_body_next(HttpRequest *r, uint64_t position, void *buffer, size_t size, void *userdata);

/* tunnel.c: takes fd; lives on its own until both sides are through. */
int preview_tunnel_start(ApiRequest *q, const char *protocol, int fd, const void *early, size_t early_size);
