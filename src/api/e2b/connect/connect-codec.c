/* connect-codec.c: encodes and decodes messages and envelopes, in both codecs. */

#include <errno.h>
#include <stdlib.h>

#include "api/e2b/connect/connect-internal.h"

#define MEMORY_MAX ((size_t) 64 << 20) /* for one binary message: two bytes of it may need a hundred */

static void *limited_alloc(void *userdata, size_t size) {
        size_t *left = userdata;

        if (size > *left)
                return NULL;
        *left -= size;
        return malloc(size);
}

static void limited_free(void *userdata, void *p) {
        free(p);
}

int connect_decode(const ConnectMethod *method, bool json, const void *data, size_t size, ProtobufCMessage **ret, Error *reterr) {
        size_t left = MEMORY_MAX;
        ProtobufCAllocator allocator = { limited_alloc, limited_free, &left };
        ProtobufCMessage *m;

        if (json)
                return connect_json_read(method->request, data, size, ret, reterr);
        m = protobuf_c_message_unpack(method->request, &allocator, size, data);
        if (!m)
                return error_set(reterr, -EBADMSG, "not a message of type %s", method->request->name);
        *ret = m;
        return 0;
}

int connect_encode(Text *t, bool json, const ProtobufCMessage *message) {
        size_t size;
        char *p;

        if (json)
                return connect_json_write(t, message);
        size = protobuf_c_message_get_packed_size(message);
        p = size > 0 ? text_extend(t, size) : NULL;
        if (p)
                (void) protobuf_c_message_pack(message, (uint8_t *) p);
        return t->error;
}

/* Reserves the head of an envelope, to be filled in when its length is known. */
static size_t begin_envelope(Text *t) {
        size_t at = t->size;

        (void) text_extend(t, CONNECT_HEAD_SIZE);
        return at;
}

static int end_envelope(Text *t, size_t at, uint8_t flags) {
        if (t->error == 0)
                connect_frame_head(flags, t->size - at - CONNECT_HEAD_SIZE, (uint8_t *) t->data + at);
        return t->error;
}

int connect_encode_envelope(Text *t, bool json, const ProtobufCMessage *message) {
        size_t at = begin_envelope(t);

        (void) connect_encode(t, json, message);
        return end_envelope(t, at, 0);
}

/* The end of a stream is JSON in both codecs. */
int connect_encode_end(Text *t, ConnectCode code, const char *message) {
        size_t at = begin_envelope(t);

        if (code == 0)
                text_put_string(t, "{}");
        else {
                text_format(t, "{\"error\":{\"code\":\"%s\",\"message\":", connect_code_name(code));
                text_quote_string(t, message);
                text_put_string(t, "}}");
        }
        return end_envelope(t, at, CONNECT_FLAG_END);
}
