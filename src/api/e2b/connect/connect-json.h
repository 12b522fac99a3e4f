/* connect-json.h: messages of protobuf-c as JSON and back, by their descriptors, as proto3 says that JSON looks.
 *
 * lowerCamelCase names (the .proto's own are read as well); bytes in base64; 64 bit numbers as texts; enums by name; maps as objects; a Timestamp as RFC 3339. What
 * has its default value is not written, but for members of a oneof, where being there says something. Unknown fields are not read; a null is as good as nothing.
 * Must not know: HTTP, envelopes, any service. */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"
#include "json/json.h"

/* Appends it. A failure sticks to the text. */
int connect_json_write(Text *t, const ProtobufCMessage *message);

/* The caller frees it with protobuf_c_message_free_unpacked(). -EBADMSG: not JSON, or not of this message; the error says where. -E2BIG: of more values than any
 * message that we know has use for. */
int connect_json_read(const ProtobufCMessageDescriptor *d, const char *text, size_t size, ProtobufCMessage **ret, Error *reterr);

/* For the two files that do it. */
#define CONNECT_NAME_MAX 64
void connect_json_name(const ProtobufCFieldDescriptor *f, char ret[static CONNECT_NAME_MAX]);
bool connect_is_map(const ProtobufCFieldDescriptor *f);
bool connect_is_time(const ProtobufCMessageDescriptor *d);

/* RFC 3339. ret: "2026-01-02T03:04:05.678Z" with as many digits as it takes. */
#define CONNECT_TIME_MAX 40
int connect_time_print(int64_t seconds, int32_t nanos, char ret[static CONNECT_TIME_MAX]);
int connect_time_parse(const char *text, int64_t *ret_seconds, int32_t *ret_nanos); /* -EBADMSG */
