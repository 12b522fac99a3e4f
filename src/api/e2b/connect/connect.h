/* connect.h: the Connect protocol (unary calls and streams over HTTP/1.1), the server's side, in JSON and in binary protobuf.
 *
 * A method is a line of a table: names, descriptors of its messages, handler. Handlers see messages of protobuf-c and nothing of how they came: the codec
 * (connect-json.c by the descriptors, protobuf-c itself) is chosen by the request's content type. An error before the first message of a stream goes the stream's way:
 * 200 and an end that says so. What is too large, cut short, of another type, compressed, or not base64 where it should be, is answered with the code that the
 * protocol has for it.
 *
 *      unary           application/json, application/proto              one message each way
 *      server stream   application/connect+json, application/connect+proto   one envelope in; envelopes out, the last has the flag 2
 *      client stream   likewise, envelopes in; one out
 *
 * The one door to protobuf-c. Must not know: processes, files, what methods do. */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "api/surface.h"

#define CONNECT_MESSAGE_MAX ((size_t) 4 << 20)

typedef enum ConnectCode {
        CONNECT_CANCELED = 1,
        CONNECT_UNKNOWN,
        CONNECT_INVALID_ARGUMENT,
        CONNECT_DEADLINE_EXCEEDED,
        CONNECT_NOT_FOUND,
        CONNECT_ALREADY_EXISTS,
        CONNECT_PERMISSION_DENIED,
        CONNECT_RESOURCE_EXHAUSTED,
        CONNECT_FAILED_PRECONDITION,
        CONNECT_ABORTED,
        CONNECT_OUT_OF_RANGE,
        CONNECT_UNIMPLEMENTED,
        CONNECT_INTERNAL,
        CONNECT_UNAVAILABLE,
        CONNECT_DATA_LOSS,
        CONNECT_UNAUTHENTICATED,
        _CONNECT_CODE_MAX,
} ConnectCode;

typedef enum ConnectKind {
        CONNECT_UNARY,
        CONNECT_SERVER_STREAM,
        CONNECT_CLIENT_STREAM,
} ConnectKind;

typedef struct ConnectCall ConnectCall;

typedef struct ConnectMethod {
        const char *path; /* "/process.Process/Start" */
        ConnectKind kind;
        const ProtobufCMessageDescriptor *request, *response;
        /* Unary and server stream: once. Client stream: for each message, and once with NULL at their end. It may answer now or later. */
        void (*handle)(ConnectCall *c, const ProtobufCMessage *request);
} ConnectMethod;

/* All methods there are; ends with a line without path. process.c and filesystem.c have theirs. */
extern const ConnectMethod *const connect_tables[];

/* The handler and data function of the routes that methods have ("POST", "/{service}/{method}", HTTP_BODY_STREAM). */
void connect_handle(ApiRequest *q);
ssize_t connect_data(ApiRequest *q, const void *data, size_t size);

ApiRequest *connect_request(const ConnectCall *c); /* with q->sandbox */
/* Basic authorization's user, decoded; NULL: none was named. */
const char *connect_user(const ConnectCall *c);
bool connect_deadline(const ConnectCall *c, usec_t *ret_usec); /* Connect-Timeout-Ms */
void connect_unbound(ConnectCall *c); /* a stream ends at its deadline, unless its method sees to that itself */
void connect_hold(ConnectCall *c, bool held); /* client stream: no more messages for now; and on again */

/* The handler's own; destroy is called once, when the call is over however it ended: answered, or its client is gone. */
void connect_set_state(ConnectCall *c, void *state, void (*destroy)(ConnectCall *c, void *state));
void *connect_state(const ConnectCall *c);

/* Unary and client stream: the answer. */
int connect_answer(ConnectCall *c, const ProtobufCMessage *response);
/* Of any kind, also in the middle of a stream: its last word. Never 0: -ECANCELED when it went well, so that `return connect_error(…)` reads as it should. */
int connect_error(ConnectCall *c, ConnectCode code, const char *format, ...) _printf_(3, 4);
int connect_errno(ConnectCall *c, int r, const char *text);

/* Server stream. Queued; drained() is called when less than CONNECT_LOW bytes wait again after more than CONNECT_HIGH did: who makes much looks at
 * connect_backlog() before it makes more. */
#define CONNECT_HIGH ((size_t) 256 << 10)
#define CONNECT_LOW  ((size_t) 64 << 10)
int connect_send(ConnectCall *c, const ProtobufCMessage *message);
size_t connect_backlog(const ConnectCall *c);
void connect_on_drained(ConnectCall *c, void (*drained)(ConnectCall *c, void *state));
int connect_end(ConnectCall *c);
/* The connection goes, without an end: what it was about has died. */
void connect_break(ConnectCall *c);
/* Sent again and again while nothing else is, at the interval that the caller has asked for (Keepalive-Ping-Interval, else 90 s). The message is static. */
int connect_keepalive(ConnectCall *c, const ProtobufCMessage *message);
