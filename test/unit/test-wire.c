/* Messages as bytes, and the channel they travel through. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/channel.h"
#include "wire/message.h"

#define HEADER 4

static const WireMessage go = { .type = WIRE_GO };
static const WireMessage cgroup = { .type = WIRE_OUTSIDE };
static const WireMessage failed = {
        .type = WIRE_FAILED, .failed = { .error = ENOENT, .step = "exec", .detail = "/bin/nothing" }
};
static const WireMessage failed_bare = { .type = WIRE_FAILED, .failed = { .error = 4095 } };
static const WireMessage started = { .type = WIRE_STARTED, .started = { .guards_missing = UINT64_MAX - 1 } };
static const WireMessage exited = {
        .type = WIRE_EXITED,
        .exited = { .wait_status = -2, .disk_full = 1, .disk_bytes = UINT64_C(0x0123456789abcdef), .wall_usec = 258 }
};

static const struct {
        const char *name;
        const WireMessage *message;
} samples[] = {
        { "go",          &go          },
        { "cgroup",      &cgroup      },
        { "failed",      &failed      },
        { "failed bare", &failed_bare },
        { "started",     &started     },
        { "exited",      &exited      },
};

static size_t encode(const WireMessage *m, uint8_t buffer[static WIRE_MESSAGE_MAX]) {
        ssize_t n = wire_encode(m, buffer, WIRE_MESSAGE_MAX);

        check_true("wire_encode", n > 0);
        return (size_t) n;
}

static void check_message(const char *what, const WireMessage *found, const WireMessage *expected) {
        check_int(what, found->type, expected->type);
        switch (expected->type) {
        case WIRE_FAILED:
                check_int(what, found->failed.error, expected->failed.error);
                check_string(what, found->failed.step, expected->failed.step);
                check_string(what, found->failed.detail, expected->failed.detail);
                break;
        case WIRE_STARTED:
                check_uint(what, found->started.guards_missing, expected->started.guards_missing);
                break;
        case WIRE_EXITED:
                check_int(what, found->exited.wait_status, expected->exited.wait_status);
                check_uint(what, found->exited.disk_full, expected->exited.disk_full);
                check_uint(what, found->exited.disk_bytes, expected->exited.disk_bytes);
                check_uint(what, found->exited.wall_usec, expected->exited.wall_usec);
                break;
        case WIRE_GO:
        case WIRE_OUTSIDE:
        case _WIRE_TYPE_MAX:
        default: break;
        }
}

static void check_refused(const char *what, const uint8_t *data, size_t size) {
        WireMessage m;

        memset(&m, 0x5a, sizeof(m));
        check_result(what, wire_decode(data, size, &m), -EBADMSG);
        for (size_t i = 0; i < sizeof(m); i++)
                check_uint("output untouched", ((const uint8_t *) &m)[i], 0x5a);
}

TEST(round_trip) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[WIRE_MESSAGE_MAX];
                WireMessage m;

                check_result(samples[i].name, wire_decode(buffer, encode(samples[i].message, buffer), &m),
                                0);
                check_message(samples[i].name, &m, samples[i].message);
        }
}

/* As message.h draws them. */
TEST(bytes) {
        /* clang-format off */
        static const uint8_t expected[] = {
                WIRE_FAILED, 0, 24, 0,    /* type, length */
                2, 0, 0, 0,               /* ENOENT */
                4, 0, 'e', 'x', 'e', 'c', /* step */
                12, 0, '/', 'b', 'i', 'n', '/', 'n', 'o', 't', 'h', 'i', 'n', 'g',
        };
        static const uint8_t expected_exited[] = {
                WIRE_EXITED, 0, 21, 0,
                0xfe, 0xff, 0xff, 0xff,   /* -2 */
                1,
                0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
                2, 1, 0, 0, 0, 0, 0, 0,
        };
        /* clang-format on */
        uint8_t buffer[WIRE_MESSAGE_MAX];

        check_uint("failed: size", encode(&failed, buffer), sizeof(expected));
        check_true("failed: bytes", memcmp(buffer, expected, sizeof(expected)) == 0);
        check_uint("exited: size", encode(&exited, buffer), sizeof(expected_exited));
        check_true("exited: bytes", memcmp(buffer, expected_exited, sizeof(expected_exited)) == 0);
}

TEST(longest_strings) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        WireMessage m = { .type = WIRE_FAILED, .failed.error = 1 }, back;
        size_t n;

        memset(m.failed.step, 's', WIRE_STEP_MAX - 1);
        memset(m.failed.detail, 'd', WIRE_DETAIL_MAX - 1);
        n = encode(&m, buffer);
        check_uint("size", n, HEADER + 4 + 2 + (WIRE_STEP_MAX - 1) + 2 + (WIRE_DETAIL_MAX - 1));
        check_result("decode", wire_decode(buffer, n, &back), 0);
        check_message("longest strings", &back, &m);

        /* One that somebody forgot to terminate is cut, not read beyond. */
        m.failed.step[WIRE_STEP_MAX - 1] = 's';
        check_uint("size without a NUL", encode(&m, buffer), n);
}

TEST(truncated) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[WIRE_MESSAGE_MAX];
                size_t n = encode(samples[i].message, buffer);

                for (size_t shorter = 0; shorter < n; shorter++) {
                        uint8_t cut[WIRE_MESSAGE_MAX];

                        /* Once as the header says, once with a header that fits what is left. */
                        memcpy(cut, buffer, shorter);
                        check_refused(samples[i].name, cut, shorter);
                        if (shorter < HEADER)
                                continue;
                        cut[2] = (uint8_t) (shorter - HEADER);
                        check_refused(samples[i].name, cut, shorter);
                }
        }
}

TEST(oversized) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[WIRE_MESSAGE_MAX] = { 0 };
                size_t n = encode(samples[i].message, buffer);

                buffer[n] = 0;
                check_refused(samples[i].name, buffer, n + 1);
                buffer[2]++; /* the header agrees, the body has a byte too many */
                check_refused(samples[i].name, buffer, n + 1);
        }
}

TEST(wrong_length) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        size_t n = encode(&started, buffer);

        buffer[2]--;
        check_refused("one less", buffer, n);
        buffer[2] += 2;
        check_refused("one more", buffer, n);
        buffer[2]--;
        buffer[3] = 0xff;
        check_refused("far more", buffer, n);
}

TEST(unknown_type) {
        static const unsigned types[] = { 0, _WIRE_TYPE_MAX, 255, 256 + WIRE_GO, 65535 };

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                const uint8_t buffer[HEADER] = { (uint8_t) types[i], (uint8_t) (types[i] >> 8), 0, 0 };
                char what[32];

                (void) snprintf(what, sizeof(what), "type %u", types[i]);
                check_refused(what, buffer, sizeof(buffer));
        }
}

TEST(nul_in_a_string) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        size_t n = encode(&failed, buffer);

        buffer[HEADER + 4 + 2 + 1] = 0;
        check_refused("in the step", buffer, n);
        n = encode(&failed, buffer);
        buffer[n - 1] = 0;
        check_refused("in the detail", buffer, n);
}

/* A string one byte longer than its field, in a message that is otherwise well-formed. */
TEST(string_too_long) {
        uint8_t buffer[WIRE_MESSAGE_MAX] = { WIRE_FAILED, 0, 0, 0, 1, 0, 0, 0, WIRE_STEP_MAX, 0 };
        size_t n = HEADER + 4 + 2 + WIRE_STEP_MAX + 2;

        memset(buffer + HEADER + 4 + 2, 's', WIRE_STEP_MAX);
        buffer[2] = (uint8_t) (n - HEADER);
        check_refused("step", buffer, n);
        buffer[HEADER + 4] = 0xff;
        buffer[HEADER + 5] = 0xff;
        check_refused("step of 65,535", buffer, n);
}

TEST(error_range) {
        static const struct {
                int32_t error;
                int result;
        } rows[] = {
                { 1,         0        },
                { 4095,      0        },
                { 0,         -EBADMSG },
                { 4096,      -EBADMSG },
                { -1,        -EBADMSG },
                { INT32_MIN, -EBADMSG },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                uint8_t buffer[WIRE_MESSAGE_MAX];
                WireMessage m = {
                        .type = WIRE_FAILED, .failed = { .error = rows[i].error, .step = "x" }
                };
                char what[32];

                (void) snprintf(what, sizeof(what), "error %d", rows[i].error);
                check_result(what, wire_decode(buffer, encode(&m, buffer), &m), rows[i].result);
        }
}

TEST(flag_range) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        size_t n = encode(&exited, buffer);

        buffer[HEADER + 4] = 2;
        check_refused("disk_full of 2", buffer, n);
}

TEST(encode_needs_room) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[WIRE_MESSAGE_MAX];
                size_t n = encode(samples[i].message, buffer);

                for (size_t size = 0; size < n; size++) {
                        memset(buffer, 0x5a, sizeof(buffer));
                        check_result(samples[i].name, wire_encode(samples[i].message, buffer, size),
                                        -ENOSPC);
                        check_uint("the byte behind", buffer[size], 0x5a);
                }
                check_int(samples[i].name, wire_encode(samples[i].message, buffer, n), (intmax_t) n);
        }
}

/* channel */

static void pair(int fds[static 2]) {
        check_result("channel_pair", channel_pair(fds), 0);
}

static void close_pair(const int fds[static 2]) {
        (void) fd_close(fds[0]);
        (void) fd_close(fds[1]);
}

static int send_plain(int fd, const WireMessage *m) {
        return channel_send(fd, m, /* fds= */ NULL, /* n_fds= */ 0);
}

static int receive_plain(int fd, int flags, WireMessage *ret) {
        return channel_receive(fd, flags, ret, /* ret_fds= */ NULL, /* max_fds= */ 0, /* ret_n_fds= */ NULL);
}

TEST(channel_is_close_on_exec) {
        int fds[2];

        pair(fds);
        for (int i = 0; i < 2; i++)
                check_int("FD_CLOEXEC", fcntl(fds[i], F_GETFD), FD_CLOEXEC);
        close_pair(fds);
}

TEST(channel_keeps_messages_apart) {
        int fds[2], passed = 77;
        size_t n_passed = 77;
        WireMessage m;

        pair(fds);
        for (size_t i = 0; i < ELEMENTSOF(samples); i++)
                check_result(samples[i].name, send_plain(fds[0], samples[i].message), 0);
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                check_int(samples[i].name, channel_receive(fds[1], 0, &m, &passed, 1, &n_passed), 1);
                check_message(samples[i].name, &m, samples[i].message);
                check_uint("descriptors", n_passed, 0);
        }
        check_result("none left", receive_plain(fds[1], MSG_DONTWAIT, &m), -EAGAIN);
        close_pair(fds);
}

TEST(channel_passes_a_descriptor) {
        int fds[2], pipe_fds[2], passed = -EBADF;
        size_t n_passed = 0;
        WireMessage m;
        char c = 0;

        pair(fds);
        check_int("pipe", pipe2(pipe_fds, O_CLOEXEC), 0);
        check_result("send", channel_send(fds[0], &started, pipe_fds + 1, 1), 0);
        (void) close(pipe_fds[1]);
        check_int("receive", channel_receive(fds[1], 0, &m, &passed, 1, &n_passed), 1);
        check_message("started", &m, &started);
        check_uint("descriptors", n_passed, 1);
        check_int("FD_CLOEXEC", fcntl(passed, F_GETFD), FD_CLOEXEC);
        check_result("write through it", fd_write_all(passed, "x", 1), 0);
        check_int("read", fd_read_full(pipe_fds[0], &c, 1), 1);
        check_int("what came", c, 'x');
        (void) close(passed);
        (void) close(pipe_fds[0]);
        close_pair(fds);
}

TEST(channel_passes_several_in_order) {
        int fds[2], sent[CHANNEL_FDS_MAX + 1], passed[CHANNEL_FDS_MAX];
        size_t n_passed = 0;
        WireMessage m;

        pair(fds);
        for (size_t i = 0; i < ELEMENTSOF(sent); i++) {
                sent[i] = open(unit_directory(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
                check_result("file", ftruncate(sent[i], (off_t) i), 0); /* the size tells them apart */
        }
        check_result("send one too many", channel_send(fds[0], &cgroup, sent, ELEMENTSOF(sent)), -E2BIG);
        check_result("send", channel_send(fds[0], &cgroup, sent, CHANNEL_FDS_MAX), 0);
        check_int("receive", channel_receive(fds[1], 0, &m, passed, ELEMENTSOF(passed), &n_passed), 1);
        check_uint("descriptors", n_passed, CHANNEL_FDS_MAX);
        for (size_t i = 0; i < n_passed; i++) {
                check_int("which", lseek(passed[i], 0, SEEK_END), (intmax_t) i);
                (void) close(passed[i]);
        }
        for (size_t i = 0; i < ELEMENTSOF(sent); i++)
                (void) close(sent[i]);
        close_pair(fds);
}

static size_t receive_piece(int fd, char *ret_text, size_t size) {
        int fds[CHANNEL_FDS_MAX];
        size_t n = 0, n_fds = 0;

        memset(ret_text, 0, size);
        check_int("receive", channel_receive_bytes(fd, 0, ret_text, size - 1, &n, fds, ELEMENTSOF(fds), &n_fds), 1);
        for (size_t i = 0; i < n_fds; i++)
                (void) close(fds[i]);
        return n_fds;
}

TEST(channel_sends_several_at_once) {
        const int passed[] = { STDERR_FILENO, STDOUT_FILENO };
        const ChannelPiece pieces[CHANNEL_PIECES_MAX + 1] = {
                { "one", 3, NULL, 0 }, { "three", 5, passed, 2 }, { "four", 4, NULL, 0 }, { "a", 1, passed, 1 },
                { "b", 1, NULL, 0 }, { "c", 1, NULL, 0 }, { "d", 1, NULL, 0 }, { "e", 1, NULL, 0 }, { "f", 1, NULL, 0 },
        };
        char text[16];
        int fds[2], sent = 0, n = 1;

        pair(fds);
        check_int("no more than there is room for", channel_send_pieces(fds[0], pieces, ELEMENTSOF(pieces), 0), CHANNEL_PIECES_MAX);
        for (size_t i = 0; i < CHANNEL_PIECES_MAX; i++) {
                check_uint("descriptors", receive_piece(fds[1], text, sizeof(text)), pieces[i].n_fds);
                check_string("text", text, pieces[i].data);
        }
        check_int("one alone", channel_send_pieces(fds[0], pieces, 1, 0), 1);
        while (n > 0) {
                n = channel_send_pieces(fds[0], pieces, 3, MSG_DONTWAIT);
                sent += MAX_OF(n, 0);
        }
        check_result("until it is full", n, -EAGAIN);
        for (int i = 0; i < sent + 1; i++)
                (void) receive_piece(fds[1], text, sizeof(text));
        (void) fd_close(fds[1]);
        check_result("nobody", channel_send_pieces(fds[0], pieces, 3, 0), -EPIPE);
        (void) fd_close(fds[0]);
}

/* What an enemy on the other side can send: any bytes with any number of descriptors. */
static void send_raw(int fd, const void *data, size_t size, size_t n_fds) {
        union {
                struct cmsghdr align;
                char data[CMSG_SPACE(64 * sizeof(int))];
        } control = { 0 };
        struct iovec iov = { .iov_base = (void *) data, .iov_len = size };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

        if (n_fds > 0) {
                struct cmsghdr *c = &control.align;

                mh.msg_control = &control;
                mh.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
                for (size_t i = 0; i < n_fds; i++)
                        memcpy(CMSG_DATA(c) + i * sizeof(int), &(int) { STDERR_FILENO }, sizeof(int));
        }
        check_int("sendmsg", sendmsg(fd, &mh, MSG_NOSIGNAL), (intmax_t) size);
}

TEST(channel_closes_what_nobody_wants) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        size_t n = encode(&started, buffer), before, n_passed = 77;
        int fds[2], passed = -EBADF;
        WireMessage m;

        pair(fds);
        before = unit_count_descriptors();
        send_raw(fds[0], buffer, n, 1);
        check_int("one, none wanted", receive_plain(fds[1], 0, &m), 1);
        check_uint("descriptors", unit_count_descriptors(), before);

        send_raw(fds[0], buffer, n, CHANNEL_FDS_MAX);
        check_int("several, one wanted", channel_receive(fds[1], 0, &m, &passed, 1, &n_passed), 1);
        check_uint("handed out", n_passed, 1);
        check_uint("descriptors", unit_count_descriptors(), before + 1);
        (void) fd_close(passed);
        close_pair(fds);
}

/* More than there is room for: the kernel cuts them off and says so, and the message is none of ours. */
TEST(channel_refuses_too_many_descriptors) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        size_t n = encode(&started, buffer), before;
        int fds[2], passed[CHANNEL_FDS_MAX];
        WireMessage m;

        for (size_t i = 0; i < ELEMENTSOF(passed); i++)
                passed[i] = 77;
        pair(fds);
        before = unit_count_descriptors();
        send_raw(fds[0], buffer, n, 64);
        check_result("MSG_CTRUNC",
                        channel_receive(fds[1], 0, &m, passed, ELEMENTSOF(passed), &(size_t) { 0 }),
                        -EBADMSG);
        check_uint("descriptors", unit_count_descriptors(), before);
        for (size_t i = 0; i < ELEMENTSOF(passed); i++)
                check_int("output untouched", passed[i], 77);
        close_pair(fds);
}

/* Our own lack of descriptors is no fault of the one who sends: the message counts, and the next one too. */
static void receive_without_room(void *userdata) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        size_t n = encode(&started, buffer), size = 0, n_passed = 77;
        int fds[2], passed[CHANNEL_FDS_MAX], spare;
        WireMessage m;

        pair(fds);
        spare = fcntl(fds[0], F_DUPFD_CLOEXEC, 3);
        check_int("limit", setrlimit(RLIMIT_NOFILE, &(struct rlimit) { (rlim_t) spare + 2, (rlim_t) spare + 2 }), 0);
        send_raw(fds[0], buffer, n, 3); /* there is room for one */
        check_int("cut", channel_receive_bytes(fds[1], 0, buffer, sizeof(buffer), &size, passed, ELEMENTSOF(passed), &n_passed), CHANNEL_SHORT);
        check_uint("descriptors", n_passed, 0);
        check_uint("size", size, n);
        check_int("what came is closed", fcntl(spare + 1, F_GETFD), -1);
        send_raw(fds[0], buffer, n, 3);
        check_result("as a message", channel_receive(fds[1], 0, &m, passed, ELEMENTSOF(passed), &n_passed), -EMFILE);
        send_raw(fds[0], buffer, n, 3);
        check_int("none wanted", receive_plain(fds[1], 0, &m), 1);
        send_raw(fds[0], buffer, n, 1);
        check_int("the next", channel_receive(fds[1], 0, &m, passed, ELEMENTSOF(passed), &n_passed), 1);
        check_uint("its descriptor", n_passed, 1);
}

TEST(channel_without_room_for_descriptors) {
        unit_run_in_child(receive_without_room, NULL);
}

TEST(channel_refuses_rubbish) {
        static const uint8_t rubbish[WIRE_MESSAGE_MAX + 1] = { 0xff };
        static const size_t sizes[] = { 1, 4, 100, WIRE_MESSAGE_MAX, WIRE_MESSAGE_MAX + 1 };
        int fds[2], passed = 77;
        size_t before, n_passed = 77;
        WireMessage m;

        pair(fds);
        before = unit_count_descriptors();
        for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
                send_raw(fds[0], rubbish, sizes[i], 1);
                check_result("rubbish", channel_receive(fds[1], 0, &m, &passed, 1, &n_passed), -EBADMSG);
                check_uint("descriptors", unit_count_descriptors(), before);
                check_int("output untouched", passed,
                                77); /* a caller that cleans up would close a stranger's */
                check_uint("output untouched", n_passed, 77);
        }
        close_pair(fds);
}

/* Longer than any of ours: MSG_TRUNC. */
TEST(channel_refuses_a_cut_message) {
        uint8_t buffer[2 * WIRE_MESSAGE_MAX] = { WIRE_GO, 0, 0, 0 };
        WireMessage m;
        int fds[2];

        pair(fds);
        send_raw(fds[0], buffer, sizeof(buffer), 0);
        check_result("receive", receive_plain(fds[1], 0, &m), -EBADMSG);
        close_pair(fds);
}

TEST(channel_end) {
        WireMessage m;
        int fds[2];

        pair(fds);
        check_result("send", send_plain(fds[0], &exited), 0);
        (void) close(fds[0]);
        check_int("what was sent before", receive_plain(fds[1], 0, &m), 1);
        check_message("exited", &m, &exited);
        check_int("end", receive_plain(fds[1], 0, &m), 0);
        check_int("end, again", receive_plain(fds[1], MSG_DONTWAIT, &m), 0);
        check_result("send to nobody", send_plain(fds[1], &go), -EPIPE);
        (void) close(fds[1]);
}

/* The other side went away with our messages unread. */
TEST(channel_reset) {
        WireMessage m;
        int fds[2];

        pair(fds);
        check_result("send", send_plain(fds[1], &go), 0);
        (void) close(fds[0]);
        check_int("end", receive_plain(fds[1], 0, &m), 0);
        (void) close(fds[1]);
}

TEST(channel_errors) {
        WireMessage m;

        check_result("send", send_plain(-EBADF, &go), -EBADF);
        check_result("receive", receive_plain(-EBADF, 0, &m), -EBADF);
}
