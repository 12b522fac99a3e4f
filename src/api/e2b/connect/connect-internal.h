/* connect-internal.h: what the files of Connect share: one call, from its first byte to its last. Private to connect*.c. */
#pragma once

#include <systemd/sd-event.h>

#include "api/e2b/connect/connect-frame.h"
#include "api/e2b/connect/connect-json.h"
#include "api/e2b/connect/connect.h"

struct ConnectCall {
        ApiRequest *q;
        const ConnectMethod *method;
        bool json; /* else binary */
        char *user;
        bool has_deadline;
        usec_t deadline_usec;

        ConnectFrame in; /* unary: the body is its message */
        bool has_message, held, body_ended;

        Text out;
        size_t sent; /* of out */
        bool started, ended, broken;
        bool was_high; /* more than CONNECT_HIGH waited: drained() is due */
        void (*drained)(ConnectCall *c, void *state);
        sd_event_source *deadline, *keepalive;
        sd_event_source *begin; /* of the answer, when all has been said that is to be said at once */
        Text ping; /* an envelope */
        usec_t ping_usec;

        void *state;
        void (*destroy)(ConnectCall *c, void *state);
};

const char *connect_code_name(ConnectCode code);
unsigned connect_code_status(ConnectCode code);
ConnectCode connect_code_from_errno(int r);

/* connect-codec.c: by the codec of the call. */
int connect_decode(const ConnectMethod *method, bool json, const void *data, size_t size, ProtobufCMessage **ret, Error *reterr);
int connect_encode(Text *t, bool json, const ProtobufCMessage *message);
int connect_encode_envelope(Text *t, bool json, const ProtobufCMessage *message);
int connect_encode_end(Text *t, ConnectCode code, const char *message); /* code 0: it went well */

/* connect-head.c: what a request's head says. Each answers when it will not do. */
int connect_read_head(ConnectCall *c);

/* connect-answer.c */
void connect_answer_done(ConnectCall *c);
int connect_bound(ConnectCall *c); /* ends a stream at its deadline */
