/* Bytes from one descriptor to another: all of them, not one too many, and never a wait for a reader. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/pump.h"

#define NO_LIMIT     UINT64_MAX
#define POLL_MS      5000
#define HANG_SECONDS 60 /* a test that waits for a reader is ended by SIGALRM */

static void make_pipe(int fds[static 2]) {
        check_int("pipe", pipe2(fds, O_CLOEXEC), 0);
}

static void put(int fd, size_t n) {
        _cleanup_free_ char *data = malloc(n + 1);

        for (size_t i = 0; i < n; i++)
                data[i] = (char) (i % 251);
        check_result("put", fd_write_all(fd, data, n), 0);
}

/* The bytes of put(), from the first on. */
static void check_got(int fd, size_t n) {
        _cleanup_free_ char *data = malloc(n + 1);

        check_int("bytes that came", fd_read_full(fd, data, n + 1), (intmax_t) n);
        for (size_t i = 0; i < n; i++)
                if (data[i] != (char) (i % 251))
                        check_int("byte", data[i], (char) (i % 251));
}

/* One turn of a loop; the step's result. */
static int turn(Pump *p, uint64_t max, int timeout_ms) {
        struct pollfd fd;

        pump_poll(p, &fd);
        check_true("poll", poll(&fd, 1, timeout_ms) >= 0);
        return pump_step(p, fd.revents, max);
}

static void drive(Pump *p) {
        for (int i = 0; p->open; i++) {
                check_result("step", turn(p, NO_LIMIT, POLL_MS), 0);
                check_true("comes to an end", i < 100000);
        }
}

/* What the loop does while nobody reads: it must come back, each time. */
static void drive_without_reader(Pump *p) {
        (void) alarm(HANG_SECONDS);
        for (int i = 0; i < 2000; i++)
                check_result("step", turn(p, NO_LIMIT, 0), 0);
        (void) alarm(0);
        check_true("still open", p->open);
}

TEST(waits_for_input_first) {
        struct pollfd fd;
        Pump p;

        pump_init(&p, 3, 4);
        pump_poll(&p, &fd);
        check_int("descriptor", fd.fd, 3);
        check_int("events", fd.events, POLLIN);
        pump_done(&p);
        pump_poll(&p, &fd);
        check_int("descriptor of a closed one", fd.fd, -1);
        check_int("step of a closed one", pump_step(&p, POLLIN, NO_LIMIT), 0);
        pump_done(&p);
}

TEST(empty_is_closed) {
        struct pollfd fd;
        Pump p = PUMP_EMPTY;

        pump_poll(&p, &fd);
        check_int("descriptor", fd.fd, -1);
        pump_done(&p);
}

TEST(nothing_happened) {
        int in[2], out[2];
        Pump p;

        make_pipe(in);
        make_pipe(out);
        pump_init(&p, in[0], out[1]);
        check_int("step", pump_step(&p, 0, NO_LIMIT), 0);
        check_true("open", p.open);
        for (int i = 0; i < 2; i++) {
                (void) close(in[i]);
                (void) close(out[i]);
        }
}

static void pipe_to_pipe(_unused_ void *userdata) {
        enum { SIZE = 3000000 };
        int in[2], out[2], status = -1;
        pid_t writer, reader;
        Pump p;

        make_pipe(in);
        make_pipe(out);
        writer = fork();
        if (writer == 0) {
                put(in[1], SIZE);
                _exit(0);
        }
        (void) close(in[1]);
        reader = fork();
        if (reader == 0) {
                (void) close(out[1]);
                check_got(out[0], SIZE);
                _exit(0);
        }
        (void) close(out[0]);

        pump_init(&p, in[0], out[1]);
        drive(&p);
        (void) close(out[1]);
        check_uint("bytes", p.bytes, SIZE);
        check_true("spliced", !p.copies && !p.buffer);
        check_true("not broken", !p.broken);
        pump_done(&p);
        (void) waitpid(writer, NULL, 0);
        (void) waitpid(reader, &status, 0);
        check_int("the reader's status", status, 0);
}

TEST(pipe_to_pipe) {
        unit_run_in_child(pipe_to_pipe, NULL);
}

TEST(pipe_to_file) {
        const char *path = unit_path("plain");
        _cleanup_close_ int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        int in[2];
        Pump p;

        make_pipe(in);
        put(in[1], 50000);
        (void) close(in[1]);
        pump_init(&p, in[0], file);
        drive(&p);
        check_uint("bytes", p.bytes, 50000);
        check_int("rewind", lseek(file, 0, SEEK_SET), 0);
        check_got(file, 50000);
        pump_done(&p);
        (void) close(in[0]);
}

/* The kernel does not splice to these. */
TEST(pipe_to_file_in_append_mode) {
        const char *path = unit_path("append");
        _cleanup_close_ int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
        char before[4] = "";
        int in[2];
        Pump p;

        check_result("what was there", fd_write_all(file, "old", 3), 0);
        make_pipe(in);
        put(in[1], 50000);
        (void) close(in[1]);
        pump_init(&p, in[0], file);
        drive(&p);
        check_true("copied", p.copies);
        check_uint("bytes", p.bytes, 50000);
        check_int("rewind", lseek(file, 0, SEEK_SET), 0);
        check_int("what was there", fd_read_full(file, before, 3), 3);
        check_string("what was there", before, "old");
        check_got(file, 50000);
        pump_done(&p);
        check_true("no buffer left", p.buffer == NULL);
        (void) close(in[0]);
}

TEST(end_of_input) {
        int in[2], out[2];
        Pump p;

        make_pipe(in);
        make_pipe(out);
        pump_init(&p, in[0], out[1]);
        (void) close(in[1]);
        check_int("step", turn(&p, NO_LIMIT, POLL_MS), 0);
        check_true("closed", !p.open);
        check_true("not broken", !p.broken);
        check_uint("bytes", p.bytes, 0);
        (void) close(out[1]);
        check_got(out[0], 0);
        (void) close(in[0]);
        (void) close(out[0]);
}

/* limits */

static void check_limit(bool copies) {
        int in[2], out[2];
        Pump p;

        make_pipe(in);
        make_pipe(out);
        put(in[1], 5000);
        pump_init(&p, in[0], out[1]);
        p.copies = copies;
        for (int i = 0; i < 100 && p.bytes < 1000; i++)
                check_int("step", turn(&p, 1000 - p.bytes, POLL_MS), 0);
        check_uint("bytes", p.bytes, 1000);
        while (p.end > p.start) /* what was taken is passed on first */
                check_int("step", turn(&p, 0, POLL_MS), 0);
        check_int("step at the limit", turn(&p, 0, POLL_MS), 1);
        check_int("again", turn(&p, 0, POLL_MS), 1);
        check_true("still open", p.open);
        check_uint("bytes", p.bytes, 1000);
        (void) close(out[1]);
        check_got(out[0], 1000);
        pump_done(&p);
        (void) close(in[0]);
        (void) close(in[1]);
        (void) close(out[0]);
}

TEST(limit_is_exact) {
        check_limit(/* copies= */ false);
        check_limit(/* copies= */ true);
}

/* Input that ends just there has not been cut. */
TEST(limit_met_at_the_end) {
        for (int copies = 0; copies < 2; copies++) {
                int in[2], out[2];
                Pump p;

                make_pipe(in);
                make_pipe(out);
                put(in[1], 1000);
                (void) close(in[1]);
                pump_init(&p, in[0], out[1]);
                p.copies = copies;
                for (int i = 0; i < 100 && p.open; i++)
                        check_int("step", turn(&p, 1000 - p.bytes, POLL_MS), 0);
                check_true("closed", !p.open);
                check_uint("bytes", p.bytes, 1000);
                pump_done(&p);
                (void) close(in[0]);
                (void) close(out[0]);
                (void) close(out[1]);
        }
}

TEST(limit_without_input) {
        int in[2], out[2];
        Pump p;

        make_pipe(in);
        make_pipe(out);
        pump_init(&p, in[0], out[1]);
        check_int("step", turn(&p, 0, 0), 0);
        check_true("open", p.open);
        for (int i = 0; i < 2; i++) {
                (void) close(in[i]);
                (void) close(out[i]);
        }
}

/* stdout and stderr of a guest, each with more than the limit, under one limit for both: whoever counts what has
 * passed and allows the rest must not be passed twice. */
static void check_shared_limit(const char *what, bool copies) {
        enum { LIMIT = 10000 };
        int in[2][2], out[2];
        Pump p[2];

        make_pipe(out);
        for (int i = 0; i < 2; i++) {
                make_pipe(in[i]);
                put(in[i][1], 20000);
                pump_init(p + i, in[i][0], out[1]);
                p[i].copies = copies;
        }
        for (int round = 0; round < 100; round++)
                for (int i = 0; i < 2; i++) {
                        uint64_t used = p[0].bytes + p[1].bytes;

                        check_true(what, turn(p + i, used < LIMIT ? LIMIT - used : 0, 0) >= 0);
                }
        check_uint(what, p[0].bytes + p[1].bytes, LIMIT);
        for (int i = 0; i < 2; i++) {
                pump_done(p + i);
                (void) close(in[i][0]);
                (void) close(in[i][1]);
                (void) close(out[i]);
        }
}

TEST(limit_shared_by_two_spliced) {
        check_shared_limit("spliced", /* copies= */ false);
}

TEST(limit_shared_by_two_copied) {
        check_shared_limit("copied", /* copies= */ true);
}

/* readers that are slow or gone */

static void slow_pipe(void *userdata) {
        int in[2], out[2];
        Pump p;

        make_pipe(in);
        make_pipe(out);
        check_true("a larger pipe", fcntl(in[0], F_SETPIPE_SZ, 1024 * 1024) > 0);
        put(in[1], 300000);
        (void) close(in[1]);
        pump_init(&p, in[0], out[1]);
        p.copies = *(const bool *) userdata;
        drive_without_reader(&p);
        check_true("has moved some", p.bytes >= 4096 && p.bytes <= 65536 + PUMP_BUFFER_SIZE);

        /* And when somebody reads at last, everything arrives. */
        (void) alarm(HANG_SECONDS);
        for (size_t got = 0; got < 300000;) {
                char buffer[5000];
                ssize_t n;

                if (p.open)
                        check_result("step", turn(&p, NO_LIMIT, 0), 0);
                n = read(out[0], buffer, got < 290000 && p.open ? sizeof(buffer) : 1);
                check_true("read", n > 0);
                for (ssize_t i = 0; i < n; i++)
                        if (buffer[i] != (char) ((got + (size_t) i) % 251))
                                check_int("byte", buffer[i], (char) ((got + (size_t) i) % 251));
                got += (size_t) n;
        }
        check_uint("bytes", p.bytes, 300000);
        pump_done(&p);
}

TEST(slow_pipe_spliced) {
        unit_run_in_child(slow_pipe, &(bool) { false });
}

TEST(slow_pipe_copied) {
        unit_run_in_child(slow_pipe, &(bool) { true });
}

static void slow_socket(_unused_ void *userdata) {
        int in[2], out[2];
        Pump p;

        make_pipe(in);
        check_int("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out), 0);
        check_true("a larger pipe", fcntl(in[0], F_SETPIPE_SZ, 1024 * 1024) > 0);
        put(in[1], 1000000); /* a socket's buffer holds about 200,000 */
        (void) close(in[1]);
        pump_init(&p, in[0], out[1]);
        drive_without_reader(&p);
        pump_done(&p);
}

TEST(slow_socket) {
        unit_run_in_child(slow_socket, NULL);
}

/* A person who pressed Ctrl-S. */
static void slow_terminal(_unused_ void *userdata) {
        struct termios mode;
        int in[2], master, slave;
        Pump p;

        if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
                unit_skip("no pseudo terminal here (%s); mount devpts on /dev/pts", strerror(errno));
        check_int("tcgetattr", tcgetattr(slave, &mode), 0);
        cfmakeraw(&mode);
        check_int("tcsetattr", tcsetattr(slave, TCSANOW, &mode), 0);
        make_pipe(in);
        check_true("a larger pipe", fcntl(in[0], F_SETPIPE_SZ, 1024 * 1024) > 0);
        put(in[1], 500000);
        (void) close(in[1]);
        pump_init(&p, in[0], slave);
        drive_without_reader(&p);
        pump_done(&p);
}

TEST(slow_terminal) {
        unit_run_in_child(slow_terminal, NULL);
}

static void reader_is_gone(void *userdata) {
        int in[2], out[2];
        Pump p;

        (void) signal(SIGPIPE, SIG_IGN); /* as the supervisor does */
        make_pipe(in);
        make_pipe(out);
        (void) close(out[0]);
        put(in[1], 100);
        pump_init(&p, in[0], out[1]);
        p.copies = *(const bool *) userdata;
        for (int i = 0; i < 10 && p.open; i++)
                check_result("step", turn(&p, NO_LIMIT, POLL_MS), 0);
        check_true("closed", !p.open);
        check_true("broken", p.broken);
        check_uint("bytes", p.bytes, 0);
        pump_done(&p);
}

TEST(reader_is_gone) {
        unit_run_in_child(reader_is_gone, &(bool) { false });
        unit_run_in_child(reader_is_gone, &(bool) { true });
}

/* Goes while we wait for it. */
static void reader_goes(void *userdata) {
        int in[2], out[2];
        Pump p;

        (void) signal(SIGPIPE, SIG_IGN);
        make_pipe(in);
        make_pipe(out);
        check_true("a larger pipe", fcntl(in[0], F_SETPIPE_SZ, 1024 * 1024) > 0);
        put(in[1], 200000);
        pump_init(&p, in[0], out[1]);
        p.copies = *(const bool *) userdata;
        drive_without_reader(&p);
        (void) close(out[0]);
        for (int i = 0; i < 10 && p.open; i++)
                check_result("step", turn(&p, NO_LIMIT, POLL_MS), 0);
        check_true("closed", !p.open);
        check_true("broken", p.broken);
        pump_done(&p);
}

TEST(reader_goes) {
        unit_run_in_child(reader_goes, &(bool) { false });
        unit_run_in_child(reader_goes, &(bool) { true });
}

TEST(full_disk) {
        _cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        int in[2], r = 0;
        Pump p;

        make_pipe(in);
        put(in[1], 100);
        pump_init(&p, in[0], full);
        for (int i = 0; i < 10 && r == 0; i++)
                r = turn(&p, NO_LIMIT, POLL_MS);
        check_result("step", r, -ENOSPC);
        check_true("closed", !p.open);
        check_true("not broken", !p.broken);
        pump_done(&p);
        (void) close(in[0]);
        (void) close(in[1]);
}

/* terminals */

static void check_arrives(const char *what, int in, int to, int reader) {
        char text[16] = "";
        Pump p;

        pump_init(&p, in, to);
        for (int i = 0; i < 20 && (p.bytes == 0 || p.end > p.start); i++)
                check_result(what, turn(&p, NO_LIMIT, 0), 0);
        check_uint(what, p.bytes, 6);
        check_true(what, poll(&(struct pollfd) { .fd = reader, .events = POLLIN }, 1, POLL_MS) == 1);
        check_int(what, read(reader, text, sizeof(text) - 1), 6);
        check_string(what, text, "hello\n");
        pump_done(&p);
}

/* From both sides: a program's output to the caller's terminal, and the caller's typing to a guest's. */
TEST(to_a_terminal) {
        struct termios mode;
        int in[2], master, slave;

        if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
                unit_skip("no pseudo terminal here (%s); mount devpts on /dev/pts", strerror(errno));
        check_int("tcgetattr", tcgetattr(slave, &mode), 0);
        cfmakeraw(&mode);
        check_int("tcsetattr", tcsetattr(slave, TCSANOW, &mode), 0);
        make_pipe(in);
        check_int("write", write(in[1], "hello\n", 6), 6);
        check_arrives("to the slave", in[0], slave, master);
        check_int("write", write(in[1], "hello\n", 6), 6);
        check_arrives("to the master", in[0], master, slave);
        check_int("blocking, as before", fcntl(slave, F_GETFL) & O_NONBLOCK, 0);
        (void) close(in[0]);
        (void) close(in[1]);
        (void) close(master);
        (void) close(slave);
}

TEST(to_a_socket) {
        int in[2], out[2];

        make_pipe(in);
        check_int("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out), 0);
        check_int("write", write(in[1], "hello\n", 6), 6);
        check_arrives("socket", in[0], out[0], out[1]);
        check_int("blocking, as before", fcntl(out[0], F_GETFL) & O_NONBLOCK, 0);
        for (int i = 0; i < 2; i++) {
                (void) close(in[i]);
                (void) close(out[i]);
        }
}

TEST(no_descriptor_is_left) {
        size_t before = unit_count_descriptors();
        int master, slave;
        Pump p;

        if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
                unit_skip("no pseudo terminal here (%s); mount devpts on /dev/pts", strerror(errno));
        pump_init(&p, master, slave);
        pump_done(&p);
        pump_done(&p);
        (void) close(master);
        (void) close(slave);
        check_uint("descriptors", unit_count_descriptors(), before);
}

TEST(terminal_ends_with_its_last_writer) {
        int out[2], master, slave;
        Pump p;

        if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
                unit_skip("no pseudo terminal here (%s); mount devpts on /dev/pts", strerror(errno));
        make_pipe(out);
        check_int("write", write(slave, "hello", 5), 5);
        (void) close(slave);
        pump_init(&p, master, out[1]);
        p.copies = true;
        for (int i = 0; i < 20 && p.open; i++)
                check_result("step", turn(&p, NO_LIMIT, POLL_MS), 0);
        check_true("closed", !p.open);
        check_true("not broken", !p.broken);
        check_uint("bytes", p.bytes, 5);
        pump_done(&p);
        (void) close(master);
        (void) close(out[0]);
        (void) close(out[1]);
}

TEST(terminal_at_the_limit) {
        int out[2], master, slave;
        Pump p;

        if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
                unit_skip("no pseudo terminal here (%s); mount devpts on /dev/pts", strerror(errno));
        make_pipe(out);
        check_int("write", write(slave, "hello", 5), 5);
        pump_init(&p, master, out[1]);
        p.copies = true;
        check_int("step", turn(&p, 3, POLL_MS), 0);
        check_uint("bytes", p.bytes, 3);
        check_int("step", turn(&p, 0, POLL_MS), 0); /* out with what has been taken */
        check_int("step at the limit", turn(&p, 0, POLL_MS), 1);
        pump_done(&p);
        (void) close(master);
        (void) close(slave);
        (void) close(out[0]);
        (void) close(out[1]);
}
