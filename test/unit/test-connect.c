/* Envelopes, and messages as JSON: what goes out, what comes in, and what is refused. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/connect/connect-frame.h"
#include "api/e2b/connect/connect-json.h"
#include "api/e2b/filesystem.pb-c.h"
#include "api/e2b/process.pb-c.h"

/* Envelopes. */

static ConnectFrame frame_of(size_t max) {
        ConnectFrame f;

        connect_frame_init(&f, max);
        return f;
}

TEST(frame_in_pieces_of_any_size) {
        static const uint8_t bytes[] = { 0, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, '!' };

        for (size_t piece = 1; piece <= sizeof(bytes); piece++) {
                ConnectFrame f = frame_of(16);
                char found[64] = "";
                size_t at = 0;

                while (at < sizeof(bytes)) {
                        ssize_t n = connect_frame_take(&f, bytes + at, MIN_OF(piece, sizeof(bytes) - at));

                        check_true("progress", n > 0);
                        at += (size_t) n;
                        if (!connect_frame_complete(&f))
                                continue;
                        (void) snprintf(found + strlen(found), sizeof(found) - strlen(found), "<%.*s>", (int) f.message.size,
                                        f.message.size > 0 ? f.message.data : "");
                        connect_frame_next(&f);
                }
                check_string("messages", found, "<hello><><!>");
                check_true("nothing is left", connect_frame_empty(&f));
                connect_frame_done(&f);
        }
}

TEST(frame_takes_nothing_beyond_its_end) {
        ConnectFrame f = frame_of(16);

        check_result("taken", connect_frame_take(&f, "\0\0\0\0\2abcd", 9), 7);
        check_true("complete", connect_frame_complete(&f));
        check_result("no more", connect_frame_take(&f, "cd", 2), 0);
        connect_frame_done(&f);
}

TEST(frame_refusals) {
        static const struct {
                const char *bytes;
                int error;
        } cases[] = {
                { "\1\0\0\0\2ab",        -EOPNOTSUPP }, /* compressed */
                { "\2\0\0\0\2{}",        -EBADMSG    }, /* the end, which clients do not say */
                { "\200\0\0\0\0",        -EBADMSG    },
                { "\0\0\0\0\21",         -EFBIG      }, /* one more than there may be */
                { "\0\377\377\377\377x", -EFBIG      },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ConnectFrame f = frame_of(16);

                check_result("refused", connect_frame_take(&f, cases[i].bytes, 5 + (i < 2 ? 2 : 0)), cases[i].error);
                check_true("nothing was kept", !f.message.data);
                connect_frame_done(&f);
        }
}

TEST(frame_room_follows_what_has_come) {
        ConnectFrame f = frame_of((size_t) 4 << 20);

        check_result("head", connect_frame_take(&f, "\0\0\100\0\0", 5), 5); /* 4 MiB are announced */
        check_result("a byte", connect_frame_take(&f, "x", 1), 1);
        check_true("little is held", f.message.room < 4096);
        connect_frame_done(&f);
}

TEST(frame_head) {
        uint8_t head[CONNECT_HEAD_SIZE];

        connect_frame_head(CONNECT_FLAG_END, 0x01020304, head);
        check_true("bytes", memcmp(head, "\2\1\2\3\4", 5) == 0);
}

/* Messages. */

static char *json_of(const ProtobufCMessage *m) {
        static char found[4096];
        _cleanup_text_ Text t = TEXT_INIT(sizeof(found) - 1);

        check_result("written", connect_json_write(&t, m), 0);
        memcpy(found, t.data, t.size);
        found[t.size] = '\0';
        return found;
}

/* There and back; and through protobuf's own bytes, which must be the same before and after. */
static void check_round(const ProtobufCMessageDescriptor *d, const char *in, const char *out) {
        ProtobufCMessage *m = NULL, *again = NULL;
        uint8_t one[4096], two[4096];
        Error error = { 0 };
        size_t n;

        check_result(in, connect_json_read(d, in, strlen(in), &m, &error), 0);
        check_string(in, json_of(m), out);
        n = protobuf_c_message_pack(m, one);
        again = protobuf_c_message_unpack(d, NULL, n, one);
        check_true("unpacked", again != NULL);
        check_string("the same", json_of(again), out);
        check_uint("size", protobuf_c_message_pack(again, two), n);
        check_true("bytes", memcmp(one, two, n) == 0);
        protobuf_c_message_free_unpacked(m, NULL);
        protobuf_c_message_free_unpacked(again, NULL);
}

static void check_refused(const ProtobufCMessageDescriptor *d, const char *in, const char *part) {
        ProtobufCMessage *m = NULL;
        Error error = { 0 };

        check_result(in, connect_json_read(d, in, strlen(in), &m, &error), -EBADMSG);
        check_part(in, error.text, part);
        check_true("nothing was made", !m);
}

TEST(json_start_request) {
        check_round(&process__start_request__descriptor,
                        "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo \\\"\\u00fc\\\"\"],\"envs\":{\"A\":\"1\",\"B\":\"\"},\"cwd\":\"/tmp\"},\"stdin\":true}",
                        "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\",\"echo \\\"ü\\\"\"],\"envs\":{\"A\":\"1\",\"B\":\"\"},\"cwd\":\"/tmp\"},\"stdin\":true}");
        check_round(&process__start_request__descriptor, "{\"process\":{\"cmd\":\"x\",\"args\":[],\"envs\":{}},\"pty\":{\"size\":{\"cols\":80,\"rows\":\"24\"}},\"tag\":\"t\"}",
                        "{\"process\":{\"cmd\":\"x\"},\"pty\":{\"size\":{\"cols\":80,\"rows\":24}},\"tag\":\"t\"}");
}

/* What was said is told from what was not, also when it is the default. */
TEST(json_presence) {
        ProtobufCMessage *m = NULL;

        check_result("read", connect_json_read(&process__start_request__descriptor, "{\"stdin\":false}", 15, &m, NULL), 0);
        check_true("said", ((Process__StartRequest *) m)->has_stdin && !((Process__StartRequest *) m)->stdin);
        protobuf_c_message_free_unpacked(m, NULL);
        check_result("read", connect_json_read(&process__start_request__descriptor, "{\"stdin\":null}", 14, &m, NULL), 0);
        check_true("not said", !((Process__StartRequest *) m)->has_stdin);
        protobuf_c_message_free_unpacked(m, NULL);
}

TEST(json_names_and_unknown_fields) {
        check_round(&filesystem__watch_dir_request__descriptor, "{\"path\":\"/x\",\"includeEntry\":true,\"allow_network_mounts\":true,\"more\":[{\"a\":1}]}",
                        "{\"path\":\"/x\",\"includeEntry\":true,\"allowNetworkMounts\":true}");
        check_round(&process__list_request__descriptor, "{\"a\":1,\"b\":{\"c\":null}}", "{}");
}

TEST(json_enums) {
        check_round(&process__send_signal_request__descriptor, "{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGKILL\"}",
                        "{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGKILL\"}");
        check_round(&process__send_signal_request__descriptor, "{\"process\":{\"tag\":\"t\"},\"signal\":15}",
                        "{\"process\":{\"tag\":\"t\"},\"signal\":\"SIGNAL_SIGTERM\"}");
        check_round(&process__send_signal_request__descriptor, "{\"signal\":77}", "{\"signal\":77}");
        check_refused(&process__send_signal_request__descriptor, "{\"signal\":\"SIGNAL_NONE\"}", "signal");
        check_refused(&process__send_signal_request__descriptor, "{\"signal\":{}}", "signal");
}

TEST(json_bytes) {
        static const char *const ways[] = { "aGVsbG8/fn5+", "aGVsbG8_fn5-", "aGVsbG8/fn5+" };

        for (size_t i = 0; i < ELEMENTSOF(ways); i++) {
                char in[64];

                (void) snprintf(in, sizeof(in), "{\"input\":{\"stdin\":\"%s\"}}", ways[i]);
                check_round(&process__send_input_request__descriptor, in, "{\"input\":{\"stdin\":\"aGVsbG8/fn5+\"}}");
        }
        check_round(&process__send_input_request__descriptor, "{\"input\":{\"pty\":\"YQ==\"}}", "{\"input\":{\"pty\":\"YQ==\"}}");
        check_round(&process__send_input_request__descriptor, "{\"input\":{\"pty\":\"YWI\"}}", "{\"input\":{\"pty\":\"YWI=\"}}");
        check_round(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":\"\"}}", "{\"input\":{\"stdin\":\"\"}}");
        check_refused(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":\"Y\"}}", "stdin: base64");
        check_refused(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":\"YQ=\"}}", "base64");
        check_refused(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":\"Y=Q=\"}}", "base64");
        check_refused(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":\"====\"}}", "base64");
        check_refused(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":\"a b=\"}}", "base64");
        check_refused(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":[1]}}", "base64");
}

TEST(json_one_of_several) {
        check_refused(&process__send_input_request__descriptor, "{\"input\":{\"stdin\":\"\",\"pty\":\"\"}}", "one thing");
        check_round(&process__stream_input_request__descriptor, "{\"keepalive\":{}}", "{\"keepalive\":{}}");
}

TEST(json_numbers) {
        check_round(&process__connect_request__descriptor, "{\"process\":{\"pid\":4294967295}}", "{\"process\":{\"pid\":4294967295}}");
        check_round(&process__connect_request__descriptor, "{\"process\":{\"pid\":\"12\"}}", "{\"process\":{\"pid\":12}}");
        check_round(&process__connect_request__descriptor, "{\"process\":{\"pid\":1e3}}", "{\"process\":{\"pid\":1000}}");
        for (const char *const *p = (const char *const[]) { "-1", "4294967296", "1.5", "\"\"", "\" 1\"", "\"1x\"", "true", "1e300", "[]", NULL }; *p; p++) {
                char in[64];

                (void) snprintf(in, sizeof(in), "{\"process\":{\"pid\":%s}}", *p);
                check_refused(&process__connect_request__descriptor, in, "pid");
        }
}

TEST(json_end_event_leaves_defaults_out) {
        Process__ProcessEvent__EndEvent end = PROCESS__PROCESS_EVENT__END_EVENT__INIT;

        end.has_exit_code = end.has_exited = end.exited = true;
        end.status = (char *) "exit status 0";
        check_string("went well", json_of(&end.base), "{\"exited\":true,\"status\":\"exit status 0\"}");
        end.exit_code = -1;
        end.exited = false;
        end.status = end.error = (char *) "signal: killed";
        check_string("killed", json_of(&end.base), "{\"exitCode\":-1,\"status\":\"signal: killed\",\"error\":\"signal: killed\"}");
}

TEST(json_entry_info) {
        check_round(&filesystem__entry_info__descriptor,
                        "{\"name\":\"a\",\"type\":\"FILE_TYPE_FILE\",\"size\":\"9007199254740993\",\"mode\":420,\"modifiedTime\":\"2026-01-02T03:04:05.678Z\",\"metadata\":{\"k\":\"v\"}}",
                        "{\"name\":\"a\",\"type\":\"FILE_TYPE_FILE\",\"size\":\"9007199254740993\",\"mode\":420,\"modifiedTime\":\"2026-01-02T03:04:05.678Z\",\"metadata\":{\"k\":\"v\"}}");
        check_round(&filesystem__entry_info__descriptor, "{\"size\":-4}", "{\"size\":\"-4\"}");
        check_refused(&filesystem__entry_info__descriptor, "{\"size\":\"9223372036854775808\"}", "size");
        check_refused(&filesystem__entry_info__descriptor, "{\"metadata\":{\"k\":1}}", "value");
        check_refused(&filesystem__entry_info__descriptor, "{\"metadata\":[]}", "metadata");
        check_refused(&filesystem__entry_info__descriptor, "{\"modifiedTime\":5}", "RFC 3339");
}

TEST(json_times) {
        static const struct {
                const char *in, *out; /* NULL: none */
        } cases[] = {
                { "1970-01-01T00:00:00Z",           "1970-01-01T00:00:00Z"           },
                { "2026-02-28T23:59:59.1z",         "2026-02-28T23:59:59.100Z"       },
                { "2026-02-28T23:59:59.000001Z",    "2026-02-28T23:59:59.000001Z"    },
                { "2026-02-28T23:59:59.123456789Z", "2026-02-28T23:59:59.123456789Z" },
                { "2026-01-01T01:00:00+02:00",      "2025-12-31T23:00:00Z"           },
                { "0001-01-01T00:00:00Z",           "0001-01-01T00:00:00Z"           },
                { "9999-12-31T23:59:59Z",           "9999-12-31T23:59:59Z"           },
                { "0001-01-01T00:00:00+01:00",      NULL                             },
                { "2026-02-30T00:00:00Z",           NULL                             },
                { "2026-02-01T24:00:00Z",           NULL                             },
                { "2026-02-01T00:00:00",            NULL                             },
                { "2026-02-01T00:00:00.Z",          NULL                             },
                { "2026-02-01T00:00:00.1234567890Z", NULL                            },
                { "2026-02-01 00:00:00Z",           NULL                             },
                { "2026-02-01T00:00:00Zx",          NULL                             },
                { "",                               NULL                             },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[CONNECT_TIME_MAX];
                int64_t seconds = 0;
                int32_t nanos = 0;

                check_result(cases[i].in, connect_time_parse(cases[i].in, &seconds, &nanos), cases[i].out ? 0 : -EBADMSG);
                if (!cases[i].out)
                        continue;
                check_result(cases[i].in, connect_time_print(seconds, nanos, text), 0);
                check_string(cases[i].in, text, cases[i].out);
        }
}

TEST(json_what_is_none) {
        for (const char *const *p = (const char *const[]) { "", "[]", "7", "\"x\"", "{", "{\"a\":1}x", "{\"process\":[]}", "{\"tag\":\"a\\u0000b\"}",
                             "{\"tag\":\"a\",\"tag\":\"b\"}", "{\"process\":{\"args\":\"x\"}}", "{\"process\":{\"args\":[null]}}", "{\"stdin\":\"true\"}", "\xff", NULL };
                        *p; p++)
                check_refused(&process__start_request__descriptor, *p, "");
}

TEST(json_too_many_values) {
        enum { N = 300000 };
        _cleanup_free_ char *text = malloc(N + 32);
        ProtobufCMessage *m = NULL;
        Error error = { 0 };
        size_t n;

        check_true("memory", text != NULL);
        n = (size_t) sprintf(text, "{\"x\":[");
        for (size_t i = 0; i < N / 2; i++, n += 2)
                memcpy(text + n, "0,", 2);
        memcpy(text + n, "0]}", 3);
        check_result("within", connect_json_read(&process__list_request__descriptor, text, n + 3, &m, &error), 0);
        protobuf_c_message_free_unpacked(m, NULL);
        memset(text + 6, '[', N);
        check_result("beyond", connect_json_read(&process__list_request__descriptor, text, N, &m, &error), -E2BIG);

        /* in a text they are letters */
        n = (size_t) sprintf(text, "{\"tag\":\"");
        memset(text + n, ',', N);
        memcpy(text + n + N, "\"}", 2);
        check_result("a text", connect_json_read(&process__start_request__descriptor, text, n + N + 2, &m, &error), 0);
        protobuf_c_message_free_unpacked(m, NULL);
}
