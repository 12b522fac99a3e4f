/* Any bytes as the JSON of a message, and as its binary: what is read can be written, and reads back as the same. The first byte says which message, and how. */
#include "fuzz.h"

#include <errno.h>

#include "api/e2b/connect/connect-json.h"
#include "api/e2b/filesystem.pb-c.h"
#include "api/e2b/process.pb-c.h"

static const ProtobufCMessageDescriptor *const messages[] = {
        &process__start_request__descriptor,
        &process__start_response__descriptor,
        &process__list_response__descriptor,
        &process__send_input_request__descriptor,
        &process__stream_input_request__descriptor,
        &process__send_signal_request__descriptor,
        &filesystem__list_dir_response__descriptor,
        &filesystem__watch_dir_response__descriptor,
};

static void check(const ProtobufCMessageDescriptor *d, const ProtobufCMessage *m) {
        Text one = TEXT_INIT(16 << 20), two = TEXT_INIT(16 << 20);
        ProtobufCMessage *again = NULL;
        Error error = { 0 };
        int r = connect_json_write(&one, m);

        MUST(r == 0 || r == -ERANGE); /* of a moment that no calendar has, which only binary can say */
        if (r == 0) {
                MUST(connect_json_read(d, one.data, one.size, &again, &error) == 0);
                MUST(connect_json_write(&two, again) == 0);
                MUST(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
                protobuf_c_message_free_unpacked(again, NULL);
        }
        text_done(&one);
        text_done(&two);
}

/* Names that come twice are one in JSON's objects; in binary they are not, and are not written again. */
static void check_binary(const ProtobufCMessageDescriptor *d, const ProtobufCMessage *m) {
        Text t = TEXT_INIT(16 << 20);
        int r = connect_json_write(&t, m);

        MUST(r == 0 || r == -ERANGE);
        text_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const ProtobufCMessageDescriptor *d;
        ProtobufCMessage *m = NULL;
        Error error = { 0 };

        if (size < 1 || size > 65536)
                return 0;
        d = messages[data[0] % (sizeof(messages) / sizeof(messages[0]))];
        if (data[0] & 0x80) {
                m = protobuf_c_message_unpack(d, NULL, size - 1, data + 1);
                if (m)
                        check_binary(d, m);
        } else {
                int r = connect_json_read(d, (const char *) data + 1, size - 1, &m, &error);

                MUST(r == 0 || ((r == -EBADMSG || r == -E2BIG) && !m && error.text[0]));
                if (m)
                        check(d, m);
        }
        protobuf_c_message_free_unpacked(m, NULL);
        return 0;
}
