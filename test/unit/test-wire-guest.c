/* What coved and PID 1 say to each other, as bytes. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/file.h"
#include "wire/guest.h"
#include "wire/network.h"

#define HEADER 4

static const uint8_t strings[] = "/work\0ls\0-l\0PATH=/bin";

static const GuestMessage exec = {
        .type = GUEST_EXEC,
        .exec = {
                .exec = UINT64_C(0x0102030405060708),
                .flags = GUEST_EXEC_PTY | GUEST_EXEC_STDIN,
                .uid = 1000,
                .gid = 100,
                .columns = 80,
                .rows = 24,
                .timeout_usec = 5000000,
                .output_max = UINT64_MAX,
                .nofile = 4096,
                .n_args = 2,
                .n_env = 1,
                .strings = strings,
                .strings_size = sizeof(strings),
        },
};
static const GuestMessage exec_blob = { .type = GUEST_EXEC, .exec = { .exec = 1, .flags = GUEST_EXEC_BLOB, .n_args = 1 } };
static const GuestMessage signal_9 = { .type = GUEST_SIGNAL, .signal = { .exec = 7, .signal = 9 } };
static const GuestMessage resize = { .type = GUEST_RESIZE, .resize = { .exec = 7, .columns = 65535, .rows = 1 } };
static const GuestMessage stdin_open = { .type = GUEST_STDIN_OPEN, .exec_id = 7 };
static const GuestMessage stdin_close = { .type = GUEST_STDIN_CLOSE, .exec_id = UINT64_MAX };
static const GuestMessage forget = { .type = GUEST_FORGET, .exec_id = 0 };
static const GuestMessage list = { .type = GUEST_LIST };
static const GuestMessage stop = { .type = GUEST_STOP, .grace_usec = 5000000 };
static const GuestMessage file = {
        .type = GUEST_FILE,
        .file = {
                .operation = FILE_COPY,
                .flags = FILE_RECURSIVE | FILE_NO_REPLACE,
                .uid = 1000,
                .gid = 1001,
                .mode = FILE_MODE_NONE,
                .owner = FILE_ID_NONE,
                .group = 5,
                .depth = 3,
                .limit = UINT64_C(1) << 40,
                .path = "/a/b",
                .target = "/c",
        },
};
static const GuestMessage file_labels = {
        .type = GUEST_FILE,
        .file = { .operation = FILE_WRITE, .flags = FILE_SET_LABELS, .path = "/a", .labels = (const uint8_t *) "a\0b\0", .labels_size = 4 },
};
static const GuestMessage file_bare = { .type = GUEST_FILE, .file = { .operation = FILE_STAT } };
static const GuestMessage ready = { .type = GUEST_READY, .ready = { .guards_missing = UINT64_MAX - 1 } };
static const GuestMessage started = { .type = GUEST_STARTED, .started = { .exec = 7, .pid = 12, .flags = GUEST_EXEC_PTY } };
static const GuestMessage exec_failed = {
        .type = GUEST_EXEC_FAILED,
        .exec_failed = { .exec = 7, .error = ENOENT, .step = "exec", .detail = "/bin/nothing" },
};
static const GuestMessage exited = {
        .type = GUEST_EXITED,
        .exited = {
                .exec = 7,
                .wait_status = 9,
                .timed_out = 1,
                .disk_full = 1,
                .out_truncated = 1,
                .out_bytes = UINT64_C(0x0123456789abcdef),
                .err_bytes = 3,
                .wall_usec = 258,
                .user_usec = 5,
                .system_usec = 6,
                .max_rss_bytes = INT64_MAX,
        },
};
static const GuestMessage stdin_ = { .type = GUEST_STDIN, .stdin_ = { .exec = 7, .error = ESRCH } };
static const GuestMessage channel_open = { .type = GUEST_CHANNEL_OPEN, .exec_id = 7 };
static const GuestMessage channel = { .type = GUEST_CHANNEL, .stdin_ = { .exec = 7, .error = EBADF } };
static const GuestMessage kill_15 = { .type = GUEST_KILL, .kill = { .pid = 12, .signal = 15 } };
static const GuestMessage keep = { .type = GUEST_KEEP, .kept = { .pid = 12, .text = "words" } };
static const GuestMessage kept_ask = { .type = GUEST_KEPT_ASK, .exec_id = 3 };
static const GuestMessage kept = { .type = GUEST_KEPT, .kept = { .number = 3, .pid = 12, .text = "words" } };
static const GuestMessage kept_none = { .type = GUEST_KEPT, .kept = { .number = 4 } };
static const GuestMessage end = { .type = GUEST_END };
static const GuestMessage stopped = { .type = GUEST_STOPPED };
static const GuestMessage network = { .type = GUEST_NETWORK };
static const GuestMessage socket_tcp = { .type = GUEST_SOCKET, .socket = { .token = 9, .kind = GUEST_SOCKET_TCP, .remote_port = 8080 } };
static const GuestMessage socket_udp = {
        .type = GUEST_SOCKET,
        .socket = {
                .token = UINT64_MAX,
                .kind = GUEST_SOCKET_UDP,
                .local = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1 },
                .remote = { 0xfd, 0x64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 },
                .local_port = 443,
                .remote_port = 50000,
        },
};
static const GuestMessage sockets = { .type = GUEST_SOCKETS, .shape = SPAWN_NETWORK_LINKED };
static const GuestMessage socket_made = { .type = GUEST_SOCKET_MADE, .socket_made = { .token = 9, .error = ECONNREFUSED } };

static const struct {
        const char *name;
        const GuestMessage *message;
        size_t size; /* of its body */
} samples[] = {
        { "exec",        &exec,        60 + sizeof(strings)                },
        { "exec blob",   &exec_blob,   60                                  },
        { "signal",      &signal_9,    12                                  },
        { "resize",      &resize,      12                                  },
        { "stdin open",  &stdin_open,  8                                   },
        { "stdin close", &stdin_close, 8                                   },
        { "forget",      &forget,      8                                   },
        { "list",        &list,        0                                   },
        { "stop",        &stop,        8                                   },
        { "file",        &file,        38 + 2 + 4 + 2 + 2                  },
        { "file bare",   &file_bare,   38 + 2 + 2                          },
        { "file labels", &file_labels, 38 + 2 + 2 + 2 + 4 + 4              },
        { "ready",       &ready,       8                                   },
        { "started",     &started,     16                                  },
        { "exec failed", &exec_failed, 12 + 2 + 4 + 2 + 12                 },
        { "exited",      &exited,      12 + 4 + 6 * 8                      },
        { "stdin",       &stdin_,      12                                  },
        { "end",         &end,         0                                   },
        { "stopped",     &stopped,     0                                   },
        { "network",     &network,     0                                   },
        { "socket tcp",  &socket_tcp,  8 + 1 + 2 * 16 + 2 * 2              },
        { "socket udp",  &socket_udp,  8 + 1 + 2 * 16 + 2 * 2              },
        { "sockets",     &sockets,     1                                   },
        { "socket made", &socket_made, 12                                  },
        { "channel open", &channel_open, 8                                 },
        { "channel",     &channel,     12                                  },
        { "kill",        &kill_15,     8                                   },
        { "keep",        &keep,        8 + 2 + 5                           },
        { "kept ask",    &kept_ask,    8                                   },
        { "kept",        &kept,        8 + 2 + 5                           },
        { "kept none",   &kept_none,   8 + 2                               },
};

static uint8_t buffer[GUEST_MESSAGE_MAX + 1], again[GUEST_MESSAGE_MAX];

static size_t encode(const GuestMessage *m) {
        ssize_t n = guest_encode(m, buffer, GUEST_MESSAGE_MAX);

        check_true("guest_encode", n >= HEADER);
        return (size_t) n;
}

static void check_refused(const char *what, const uint8_t *data, size_t size) {
        static GuestMessage m;

        memset(&m, 0x5a, sizeof(m));
        check_result(what, guest_decode(data, size, &m), -EBADMSG);
        for (size_t i = 0; i < sizeof(m); i++)
                check_uint("output untouched", ((const uint8_t *) &m)[i], 0x5a);
}

TEST(there_and_back) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                size_t n = encode(samples[i].message);
                GuestMessage m;

                check_uint(samples[i].name, n, HEADER + samples[i].size);
                check_result(samples[i].name, guest_decode(buffer, n, &m), 0);
                check_int(samples[i].name, m.type, samples[i].message->type);
                check_int(samples[i].name, guest_encode(&m, again, sizeof(again)), (intmax_t) n);
                check_true(samples[i].name, memcmp(buffer, again, n) == 0);
        }
}

TEST(fields) {
        GuestMessage m;

        check_result("exec", guest_decode(buffer, encode(&exec), &m), 0);
        check_uint("exec", m.exec.exec, exec.exec.exec);
        check_uint("flags", m.exec.flags, exec.exec.flags);
        check_uint("uid", m.exec.uid, 1000);
        check_uint("gid", m.exec.gid, 100);
        check_uint("columns", m.exec.columns, 80);
        check_uint("rows", m.exec.rows, 24);
        check_uint("timeout", m.exec.timeout_usec, 5000000);
        check_uint("output", m.exec.output_max, UINT64_MAX);
        check_uint("nofile", m.exec.nofile, 4096);
        check_uint("args", m.exec.n_args, 2);
        check_uint("env", m.exec.n_env, 1);
        check_uint("strings", m.exec.strings_size, sizeof(strings));
        check_true("strings", memcmp(m.exec.strings, strings, sizeof(strings)) == 0);
        check_true("strings are in the message",
                        m.exec.strings > buffer && m.exec.strings + m.exec.strings_size <= buffer + sizeof(buffer));

        check_result("blob", guest_decode(buffer, encode(&exec_blob), &m), 0);
        check_true("no strings", m.exec.strings == NULL && m.exec.strings_size == 0);

        check_result("file", guest_decode(buffer, encode(&file), &m), 0);
        check_uint("operation", m.file.operation, FILE_COPY);
        check_uint("mode", m.file.mode, FILE_MODE_NONE);
        check_uint("owner", m.file.owner, FILE_ID_NONE);
        check_uint("group", m.file.group, 5);
        check_uint("depth", m.file.depth, 3);
        check_uint("limit", m.file.limit, UINT64_C(1) << 40);
        check_string("path", m.file.path, "/a/b");
        check_string("target", m.file.target, "/c");

        check_result("exited", guest_decode(buffer, encode(&exited), &m), 0);
        check_int("status", m.exited.wait_status, 9);
        check_uint("timed out", m.exited.timed_out, 1);
        check_uint("out truncated", m.exited.out_truncated, 1);
        check_uint("err truncated", m.exited.err_truncated, 0);
        check_uint("out", m.exited.out_bytes, UINT64_C(0x0123456789abcdef));
        check_uint("rss", m.exited.max_rss_bytes, INT64_MAX);

        check_result("stop", guest_decode(buffer, encode(&stop), &m), 0);
        check_uint("grace", m.grace_usec, 5000000);
        check_result("ready", guest_decode(buffer, encode(&ready), &m), 0);
        check_uint("missing", m.ready.guards_missing, UINT64_MAX - 1);
        check_result("failed", guest_decode(buffer, encode(&exec_failed), &m), 0);
        check_string("step", m.exec_failed.step, "exec");
        check_string("detail", m.exec_failed.detail, "/bin/nothing");

        check_result("socket", guest_decode(buffer, encode(&socket_udp), &m), 0);
        check_uint("token", m.socket.token, UINT64_MAX);
        check_uint("kind", m.socket.kind, GUEST_SOCKET_UDP);
        check_true("local", memcmp(m.socket.local, socket_udp.socket.local, 16) == 0);
        check_true("remote", memcmp(m.socket.remote, socket_udp.socket.remote, 16) == 0);
        check_uint("local port", m.socket.local_port, 443);
        check_uint("remote port", m.socket.remote_port, 50000);
        check_result("sockets", guest_decode(buffer, encode(&sockets), &m), 0);
        check_uint("shape", m.shape, SPAWN_NETWORK_LINKED);
        check_result("socket made", guest_decode(buffer, encode(&socket_made), &m), 0);
        check_uint("token", m.socket_made.token, 9);
        check_int("error", m.socket_made.error, ECONNREFUSED);
}

/* The format as it is on the wire: others have to read it. */
TEST(bytes) {
        /* clang-format off */
        static const uint8_t expected[] = {
                98, 0, 0, 0,
                7, 0, 0, 0, 0, 0, 0, 0,
                2, 0, 0, 0,
                4, 0, 'e', 'x', 'e', 'c',
                12, 0, '/', 'b', 'i', 'n', '/', 'n', 'o', 't', 'h', 'i', 'n', 'g',
        };
        static const uint8_t expected_signal[] = { 65, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0 };
        /* clang-format on */

        check_uint("failed: size", encode(&exec_failed), sizeof(expected));
        check_true("failed: bytes", memcmp(buffer, expected, sizeof(expected)) == 0);
        check_uint("signal: size", encode(&signal_9), sizeof(expected_signal));
        check_true("signal: bytes", memcmp(buffer, expected_signal, sizeof(expected_signal)) == 0);
}

TEST(truncated_and_oversized) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                size_t n = encode(samples[i].message);

                for (size_t shorter = 0; shorter < n; shorter++)
                        check_refused(samples[i].name, buffer, shorter);
                buffer[n] = 0;
                check_refused(samples[i].name, buffer, n + 1);
        }
}

TEST(unknown_types) {
        for (unsigned type = 0; type <= UINT16_MAX; type++) {
                const uint8_t bytes[HEADER] = { (uint8_t) type, (uint8_t) (type >> 8), 0, 0 };
                bool known = false;

                for (size_t i = 0; i < ELEMENTSOF(samples); i++)
                        known |= samples[i].message->type == type;
                if (!known)
                        check_refused("type", bytes, sizeof(bytes));
        }
        check_result("encode", guest_encode(&(GuestMessage) { .type = _GUEST_TYPE_MAX }, again, sizeof(again)), -EINVAL);
        check_result("encode", guest_encode(&(GuestMessage) { .type = GUEST_KILL + 1 }, again, sizeof(again)), -EINVAL);
}

TEST(reserved_is_zero) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++)
                for (size_t at = 2; at < HEADER; at++) {
                        size_t n = encode(samples[i].message);

                        buffer[at] = 1;
                        check_refused(samples[i].name, buffer, n);
                }
}

/* A value that nobody would send, at a place of an otherwise good message. */
TEST(values_out_of_range) {
        static const struct {
                const char *name;
                const GuestMessage *message;
                size_t at;
                uint8_t value;
        } rows[] = {
                { "unknown flag of an exec",   &exec,        HEADER + 8,           64   },
                { "channel and terminal",      &exec,        HEADER + 8,           GUEST_EXEC_PTY | GUEST_EXEC_CHANNEL },
                { "channel and segment",       &exec,        HEADER + 8,           GUEST_EXEC_SEGMENT | GUEST_EXEC_CHANNEL },
                { "blob and strings",          &exec,        HEADER + 8,           GUEST_EXEC_BLOB },
                { "signal 0",                  &signal_9,    HEADER + 8,           0    },
                { "signal 65",                 &signal_9,    HEADER + 8,           65   },
                { "signal -1",                 &signal_9,    HEADER + 8 + 3,       0xff },
                { "operation 0",               &file,        HEADER,               0    },
                { "operation that is none",    &file,        HEADER,               _FILE_OPERATION_MAX },
                { "operation of 256 more",     &file,        HEADER + 1,           1    },
                { "NUL in a path",             &file,        HEADER + 38 + 2 + 1,  0    },
                { "pid below zero",            &started,     HEADER + 8 + 3,       0xff },
                { "pid 0",                     &started,     HEADER + 8,           0    },
                { "unknown flag of a start",   &started,     HEADER + 12,          64   },
                { "error 0",                   &exec_failed, HEADER + 8,           0    },
                { "error of 256 × 16",         &exec_failed, HEADER + 8 + 1,       16   },
                { "NUL in a step",             &exec_failed, HEADER + 12 + 2 + 1,  0    },
                { "timed out twice",           &exited,      HEADER + 12,          2    },
                { "disk full twice",           &exited,      HEADER + 13,          2    },
                { "out truncated twice",       &exited,      HEADER + 14,          2    },
                { "err truncated twice",       &exited,      HEADER + 15,          2    },
                { "too many bytes",            &exited,      HEADER + 16 + 7,      0x80 },
                { "too many bytes of stderr",  &exited,      HEADER + 24 + 7,      0x80 },
                { "too much time",             &exited,      HEADER + 32 + 7,      0x80 },
                { "too much user time",        &exited,      HEADER + 40 + 7,      0x80 },
                { "too much system time",      &exited,      HEADER + 48 + 7,      0x80 },
                { "too much memory",           &exited,      HEADER + 56 + 7,      0x80 },
                { "error below zero",          &stdin_,      HEADER + 8 + 3,       0xff },
                { "error too large",           &stdin_,      HEADER + 8 + 1,       16   },
                { "shape that is none",        &sockets,     HEADER,               _SPAWN_NETWORK_MAX },
                { "socket of no kind",         &socket_tcp,  HEADER + 8,           0    },
                { "socket of unknown kind",    &socket_tcp,  HEADER + 8,           3    },
                { "error of a socket",         &socket_made, HEADER + 8 + 3,       0xff },
                { "keep of nobody",            &keep,        HEADER + 4,           0    },
                { "kept of PID 1",             &kept,        HEADER + 4,           1    },
                { "kill of PID 1",             &kill_15,     HEADER,               1    },
                { "kill of a group",           &kill_15,     HEADER + 3,           0xff },
                { "kill with signal 0",        &kill_15,     HEADER + 4,           0    },
                { "error of a channel",        &channel,     HEADER + 8 + 3,       0xff },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                size_t n = encode(rows[i].message);

                buffer[rows[i].at] = rows[i].value;
                check_refused(rows[i].name, buffer, n);
        }
}

/* Lengths that point beyond the message. */
TEST(lying_lengths) {
        size_t n = encode(&exec);
        const size_t at = HEADER + 8 + 4 + 4 + 4 + 2 + 2 + 8 + 8 + 8 + 4 + 4;

        for (unsigned i = 0; i < 4; i++) {
                (void) encode(&exec);
                buffer[at + i] = 0xff;
                check_refused("strings", buffer, n);
        }
        n = encode(&file);
        buffer[HEADER + 38] = buffer[HEADER + 39] = 0xff;
        check_refused("path", buffer, n);
}

TEST(longest) {
        static uint8_t many[GUEST_INLINE_MAX + 1];
        GuestMessage m = exec, back;
        size_t n;

        m.exec.strings = many;
        m.exec.strings_size = GUEST_INLINE_MAX;
        n = encode(&m);
        check_result("strings", guest_decode(buffer, n, &back), 0);
        check_uint("strings", back.exec.strings_size, GUEST_INLINE_MAX);
        m.exec.strings_size++;
        check_result("one more", guest_encode(&m, again, sizeof(again)), -ENOSPC);
        m = exec;
        m.exec.flags = GUEST_EXEC_BLOB;
        check_result("blob and strings", guest_encode(&m, again, sizeof(again)), -ENOSPC);

        m = file;
        memset(m.file.path, 'p', FILE_PATH_BYTES - 1);
        memset(m.file.target, 't', FILE_PATH_BYTES); /* one that somebody forgot to terminate is cut, not read beyond */
        check_result("paths", guest_decode(buffer, encode(&m), &back), 0);
        check_uint("path", strlen(back.file.path), FILE_PATH_BYTES - 1);
        check_uint("target", strlen(back.file.target), FILE_PATH_BYTES - 1);

        m = exec_failed;
        memset(m.exec_failed.step, 's', GUEST_STEP_MAX);
        memset(m.exec_failed.detail, 'd', GUEST_DETAIL_MAX);
        check_result("step and detail", guest_decode(buffer, encode(&m), &back), 0);
        check_uint("step", strlen(back.exec_failed.step), GUEST_STEP_MAX - 1);
        check_uint("detail", strlen(back.exec_failed.detail), GUEST_DETAIL_MAX - 1);
}

TEST(encode_needs_room) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                size_t n = encode(samples[i].message);

                for (size_t size = 0; size < n; size++) {
                        memset(again, 0x5a, n + 1);
                        check_result(samples[i].name, guest_encode(samples[i].message, again, size), -ENOSPC);
                        check_uint("the byte behind", again[size], 0x5a);
                }
                check_int(samples[i].name, guest_encode(samples[i].message, again, n), (intmax_t) n);
        }
}

/* PID 1s that are older than segments send neither field nor flag. */
TEST(the_state_of_the_segment_is_sent_by_those_that_know_it) {
        static const GuestType types[] = { GUEST_READY, GUEST_END };

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                GuestMessage m = { .type = types[i] };
                size_t bare = encode(&m);

                check_result("old", guest_decode(buffer, bare, &m), 0);
                check_uint("unknown", m.ready.segment, GUEST_SEGMENT_UNKNOWN);
                for (uint8_t known = GUEST_SEGMENT_NONE; known < _GUEST_SEGMENT_STATE_MAX; known++) {
                        m = (GuestMessage) { .type = types[i], .ready.segment = known };
                        check_uint("size", encode(&m), bare + 1);
                        check_result("new", guest_decode(buffer, bare + 1, &m), 0);
                        check_uint("state", m.ready.segment, known);
                }
                buffer[bare] = GUEST_SEGMENT_UNKNOWN;
                check_result("would not be sent", guest_decode(buffer, bare + 1, &m), -EBADMSG);
                buffer[bare] = _GUEST_SEGMENT_STATE_MAX;
                check_result("no state", guest_decode(buffer, bare + 1, &m), -EBADMSG);
        }
}
