/* connect.h: the Connect protocol (unary calls and streams over HTTP/1.1), the server's side, in JSON and
 * binary protobuf.
 *
 * A method is a line of a table: path, descriptors of its messages, handler. Handlers get protobuf-c
 * messages, whatever the encoding: the content type of the request selects the codec (connect-json-*.c, or
 * protobuf-c itself). Errors of streams, even before the first message, are reported as the protocol does:
 * status 200 and an end that has the error. A message that is too large, truncated, of another type,
 * compressed, or has invalid base64 gets the protocol's code for that.
 *
 *      unary           application/json, application/proto              one message each way
 *      server stream   application/connect+json, application/connect+proto   one envelope in; envelopes out, the last has flag 2
 *      client stream   the same types; envelopes in, one out
 *
 * The one door to protobuf-c.
 * Must not know: processes, files, what methods do. */
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
        /* Unary and server stream: called once. Client stream: for each message, and once with NULL at the
         * end. It may answer at once or later. */
        void (*handle)(ConnectCall *c, const ProtobufCMessage *request);
} ConnectMethod;

/* All tables of methods. Each ends with a line without path; process.c and filesystem.c have theirs. */
extern const ConnectMethod *const connect_tables[];

/* Handler and data function for the routes of methods ("POST", "/{service}/{method}", HTTP_BODY_STREAM). */
void connect_handle(ApiRequest *q);
ssize_t connect_data(ApiRequest *q, const void *data, size_t size);

ApiRequest *connect_request(const ConnectCall *c); /* with q->sandbox */
/* The user of basic authorization, decoded; NULL: none. */
const char *connect_user(const ConnectCall *c);
bool connect_deadline(const ConnectCall *c, usec_t *ret_usec); /* Connect-Timeout-Ms */
void connect_unbound(ConnectCall *c); /* cancels the deadline of a stream, for methods that handle it themselves */
void connect_hold(ConnectCall *c, bool held); /* client stream: pauses and resumes messages */

/* The handler's own state. destroy is called once at the end of the call, after an answer or if the client
 * has left. */
void connect_set_state(ConnectCall *c, void *state, void (*destroy)(ConnectCall *c, void *state));
void *connect_state(const ConnectCall *c);

/* Unary and client stream: sends the answer. */
int connect_answer(ConnectCall *c, const ProtobufCMessage *response);
/* Ends any call with an error, also in the middle of a stream. Never returns 0: -ECANCELED on success, so
 * that a handler can `return connect_error(…)`. */
int connect_error(ConnectCall *c, ConnectCode code, const char *format, ...) _printf_(3, 4);
int connect_errno(ConnectCall *c, int r, const char *text);

/* Server stream: queues a message. A handler should check connect_backlog() before it produces more.
 * drained() is called when the backlog falls below CONNECT_LOW after it was above CONNECT_HIGH. */
#define CONNECT_HIGH ((size_t) 256 << 10)
#define CONNECT_LOW  ((size_t) 64 << 10)
int connect_send(ConnectCall *c, const ProtobufCMessage *message);
size_t connect_backlog(const ConnectCall *c);
void connect_on_drained(ConnectCall *c, void (*drained)(ConnectCall *c, void *state));
int connect_end(ConnectCall *c);
/* Closes the connection without an end, because the subject of the stream has died. */
void connect_break(ConnectCall *c);
/* Sends `message` repeatedly while the stream is idle, at the interval that the client requests
 * (Keepalive-Ping-Interval, by default 90 s). The message must be static. */
int connect_keepalive(ConnectCall *c, const ProtobufCMessage *message);
