/* connect-internal.h: shared by the files of Connect: one call, from its first byte to its last. Private to
 * connect*.c. */
#pragma once

#include <systemd/sd-event.h>

#include "api/e2b/connect/connect-frame.h"
#include "api/e2b/connect/connect-json.h"
#include "api/e2b/connect/connect.h"

struct ConnectCall {
        ApiRequest *q;
        const ConnectMethod *method;
        bool json; /* else binary protobuf */
        char *user;
        bool has_deadline;
        usec_t deadline_usec;

        ConnectFrame in; /* unary: the body is its message */
        bool has_message, held, body_ended;

        Text out;
        size_t sent; /* bytes of out */
        bool started, ended, broken;
        bool was_high; /* the backlog was above CONNECT_HIGH: drained() is due */
        void (*drained)(ConnectCall *c, void *state);
        sd_event_source *deadline, *keepalive;
        sd_event_source *begin; /* starts the answer after everything available has been queued */
        Text ping; /* an encoded envelope */
        usec_t ping_usec;

        void *state;
        void (*destroy)(ConnectCall *c, void *state);
};

const char *connect_code_name(ConnectCode code);
unsigned connect_code_status(ConnectCode code);
ConnectCode connect_code_from_errno(int r);

/* connect-codec.c: encodes and decodes with the codec of the call. */
int connect_decode(const ConnectMethod *method, bool json, const void *data, size_t size, ProtobufCMessage **ret, Error *reterr);
int connect_encode(Text *t, bool json, const ProtobufCMessage *message);
int connect_encode_envelope(Text *t, bool json, const ProtobufCMessage *message);
int connect_encode_end(Text *t, ConnectCode code, const char *message); /* code 0: success */

/* connect-head.c: parses the head of a request. If it is invalid, answers. */
int connect_read_head(ConnectCall *c);

/* connect-answer.c */
void connect_answer_done(ConnectCall *c);
int connect_bound(ConnectCall *c); /* ends a stream at its deadline */
