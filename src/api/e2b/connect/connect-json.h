/* connect-json.h: converts protobuf-c messages to JSON and back, by their descriptors, in proto3's JSON
 * mapping.
 *
 * Names are lowerCamelCase (the .proto's own are accepted too); bytes are base64; 64-bit numbers are strings;
 * enums are names; maps are objects; a Timestamp is RFC 3339. Fields with their default value are omitted,
 * except members of a oneof, whose presence has a meaning. Unknown fields are ignored; null means absent.
 * Must not know: HTTP, envelopes, any service. */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"
#include "json/json.h"

/* Appends a message. A failure is recorded in the text. */
int connect_json_write(Text *t, const ProtobufCMessage *message);

/* The caller frees the message with protobuf_c_message_free_unpacked(). -EBADMSG: not JSON, or not this
 * message; the error has the position. -E2BIG: more values than any known message needs. */
int connect_json_read(const ProtobufCMessageDescriptor *d, const char *text, size_t size, ProtobufCMessage **ret, Error *reterr);

/* Shared by the reader and the writer. */
#define CONNECT_NAME_MAX 64
void connect_json_name(const ProtobufCFieldDescriptor *f, char ret[static CONNECT_NAME_MAX]);
bool connect_is_map(const ProtobufCFieldDescriptor *f);
bool connect_is_time(const ProtobufCMessageDescriptor *d);

/* RFC 3339. ret: "2026-01-02T03:04:05.678Z" with as many digits as needed. */
#define CONNECT_TIME_MAX 40
int connect_time_print(int64_t seconds, int32_t nanos, char ret[static CONNECT_TIME_MAX]);
int connect_time_parse(const char *text, int64_t *ret_seconds, int32_t *ret_nanos); /* -EBADMSG */
