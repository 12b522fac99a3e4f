/* What a process inside and PID 1's side say to each other, as bytes. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/sudo.h"

static const uint8_t strings[] = "/tmp\0id\0-u\0A=b"; /* and its NUL */

static SudoMessage make_run(uint32_t flags) {
        SudoMessage m = { .type = SUDO_RUN };

        m.run = (SudoRun) { .flags = flags, .uid = 7, .gid = 8, .n_args = 2, .n_env = 1, .strings = strings, .strings_size = sizeof(strings) };
        return m;
}

static ssize_t encode(const SudoMessage *m, uint8_t *buffer) {
        return sudo_encode(m, buffer, SUDO_MESSAGE_MAX);
}

TEST(there_and_back) {
        static uint8_t buffer[SUDO_MESSAGE_MAX];
        SudoMessage m = make_run(SUDO_TERMINAL), got;
        ssize_t n = encode(&m, buffer);

        check_result("decode", sudo_decode(buffer, (size_t) n, &got), 0);
        check_uint("flags", got.run.flags, SUDO_TERMINAL);
        check_uint("uid", got.run.uid, 7);
        check_uint("gid", got.run.gid, 8);
        check_uint("size", got.run.strings_size, sizeof(strings));
        check_true("strings", memcmp(got.run.strings, strings, sizeof(strings)) == 0);

        m = (SudoMessage) { .type = SUDO_FAILED, .failed = { .error = ENOENT, .step = "exec", .detail = "nothing" } };
        n = encode(&m, buffer);
        check_result("decode", sudo_decode(buffer, (size_t) n, &got), 0);
        check_int("error", got.failed.error, ENOENT);
        check_string("step", got.failed.step, "exec");
        check_string("detail", got.failed.detail, "nothing");
}

TEST(descriptors) {
        check_uint("plain", sudo_n_fds(0), 3);
        check_uint("terminal", sudo_n_fds(SUDO_TERMINAL), 4);
        check_uint("both", sudo_n_fds(SUDO_TERMINAL | SUDO_BLOB | SUDO_STAY), SUDO_FDS_MAX);
}

/* Cut anywhere, or with anything behind it, it is nothing. */
TEST(nothing_but_the_whole) {
        static uint8_t buffer[SUDO_MESSAGE_MAX];
        SudoMessage m = make_run(0), got;
        size_t n = (size_t) encode(&m, buffer);

        for (size_t k = 0; k < n; k++)
                check_result("cut", sudo_decode(buffer, k, &got), -EBADMSG);
        buffer[n] = 0;
        check_result("more", sudo_decode(buffer, n + 1, &got), -EBADMSG);
        check_result("whole", sudo_decode(buffer, n, &got), 0);
}

TEST(refused) {
        static uint8_t buffer[SUDO_MESSAGE_MAX];
        const struct {
                const char *what;
                SudoRun run;
        } cases[] = {
                { "an unknown flag", { .flags = 8, .n_args = 1, .strings = strings, .strings_size = 5 } },
                { "no command", { .n_args = 0, .strings = strings, .strings_size = 5 } },
                { "more arguments than bytes could hold", { .n_args = 1u << 30, .strings = strings, .strings_size = 5 } },
                { "more variables than bytes could hold", { .n_args = 1, .n_env = UINT32_MAX, .strings = strings, .strings_size = 5 } },
                { "no strings", { .n_args = 1, .strings = strings } },
        };
        SudoMessage got = { .type = SUDO_EXITED };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                SudoMessage m = { .type = SUDO_RUN };
                ssize_t n;

                m.run = cases[i].run;
                n = encode(&m, buffer);
                check_result(cases[i].what, sudo_decode(buffer, (size_t) n, &got), -EBADMSG);
                check_int("untouched", got.type, SUDO_EXITED);
        }
        for (int32_t s = -1; s <= 65; s += 66) {
                SudoMessage m = { .type = SUDO_SIGNAL, .signal = s };
                ssize_t n = encode(&m, buffer);

                check_result("signal", sudo_decode(buffer, (size_t) n, &got), -EBADMSG);
        }
}

TEST(too_large) {
        static uint8_t big[SUDO_INLINE_MAX + 1], buffer[SUDO_MESSAGE_MAX];
        SudoMessage m = { .type = SUDO_RUN }, got;
        ssize_t n;

        m.run = (SudoRun) { .n_args = 1, .strings = big, .strings_size = sizeof(big) };
        n = encode(&m, buffer);
        check_result("beyond", sudo_decode(buffer, (size_t) n, &got), -EBADMSG);
        m.run.strings_size = SUDO_INLINE_MAX;
        n = encode(&m, buffer);
        check_result("at the limit", sudo_decode(buffer, (size_t) n, &got), 0);
        check_result("no room", sudo_encode(&m, buffer, 64), -ENOSPC);
}

