/* Paths, lists of strings, descriptors, errors and log lines. Numbers and sizes have test-parse.c. */
#include "unit.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beat.h"
#include "base/array.h"
#include "base/directory.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hashset.h"
#include "base/log.h"
#include "base/path.h"
#include "base/program.h"
#include "base/reserve.h"
#include "base/strv.h"
#include "base/text.h"

/* path */

TEST(silence_counts_only_while_we_look) {
        Beat b = { 0 };

        check_uint("the first look", beat_look(&b, 1000, 100, /* waits= */ true), 0);
        check_uint("an interval", beat_look(&b, 1100, 100, true), 100);
        check_uint("we did not run: one interval", beat_look(&b, 900000, 100, true), 200);
        check_uint("an early look counts what has passed", beat_look(&b, 900040, 100, true), 240);
        beat_heard(&b);
        check_uint("heard", beat_look(&b, 900140, 100, true), 0);
        check_uint("from the beginning", beat_look(&b, 900240, 100, true), 100);
        check_uint("nothing is asked", beat_look(&b, 900340, 100, false), 0);
        check_uint("a clock that goes back", beat_look(&b, 5, 100, true), 0);
}

TEST(path_normalize) {
        static const struct {
                const char *path;
                int result;
                const char *normal;
        } rows[] = {
                { "/",         0,       "/"        },
                { "//",        0,       "/"        },
                { "/.",        0,       "/"        },
                { "/./././",   0,       "/"        },
                { "/a",        0,       "/a"       },
                { "/a/",       0,       "/a"       },
                { "//a///b//", 0,       "/a/b"     },
                { "/a/./b/.",  0,       "/a/b"     },
                { "/...",      0,       "/..."     },
                { "/..a/b..",  0,       "/..a/b.." },
                { "/.a",       0,       "/.a"      },
                { "/a b/\n",   0,       "/a b/\n"  },
                { "",          -EINVAL, NULL       },
                { "a",         -EINVAL, NULL       },
                { "./a",       -EINVAL, NULL       },
                { "../a",      -EINVAL, NULL       },
                { "~",         -EINVAL, NULL       },
                { " /a",       -EINVAL, NULL       },
                { "/..",       -EXDEV,  NULL       },
                { "/../",      -EXDEV,  NULL       },
                { "/a/..",     -EXDEV,  NULL       },
                { "/a/../b",   -EXDEV,  NULL       },
                { "//..//a",   -EXDEV,  NULL       },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_free_ char *normal = NULL;

                check_result(rows[i].path, path_normalize(rows[i].path, &normal), rows[i].result);
                check_string(rows[i].path, normal, rows[i].normal);
        }
}

TEST(path_normalize_lengths) {
        char part[NAME_MAX + 3], path[PATH_MAX + 1];
        _cleanup_free_ char *a = NULL, *b = NULL;

        memset(part, 'x', sizeof(part));
        part[0] = '/';
        part[NAME_MAX + 1] = '\0';
        check_result("part of NAME_MAX", path_normalize(part, &a), 0);
        check_string("part of NAME_MAX", a, part);
        part[NAME_MAX + 1] = 'x';
        part[NAME_MAX + 2] = '\0';
        check_result("part of NAME_MAX + 1", path_normalize(part, &b), -ENAMETOOLONG);

        for (size_t i = 0; i < sizeof(path); i++)
                path[i] = i % 2 ? 'x' : '/';
        path[PATH_MAX - 1] = '\0';
        check_result("path of PATH_MAX with its NUL", path_normalize(path, &b), 0);
        check_uint("its length, less the slash at the end", strlen(b), PATH_MAX - 2);
        path[PATH_MAX - 1] = 'x';
        path[PATH_MAX] = '\0';
        check_result("path of PATH_MAX + 1", path_normalize(path, &(char *) { NULL }), -ENAMETOOLONG);
}

TEST(path_is_below) {
        static const struct {
                const char *path, *directory;
                bool below;
        } rows[] = {
                { "/proc",      "/proc", true  },
                { "/proc/self", "/proc", true  },
                { "/process",   "/proc", false },
                { "/pro",       "/proc", false },
                { "/",          "/proc", false },
                { "/a/proc",    "/proc", false },
                { "/a/b/c",     "/a/b",  true  },
                { "/",          "/",     true  },
                { "/a",         "/",     true  },
                { "/a/b",       "/",     true  },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                char what[64];

                (void) snprintf(what, sizeof(what), "%s below %s", rows[i].path, rows[i].directory);
                check_int(what, path_is_below(rows[i].path, rows[i].directory), rows[i].below);
        }
}

/* strv */

TEST(strv_keeps_what_fits) {
        static const struct {
                const char *texts[4];
                size_t bytes;
                const char *kept[4];
        } cases[] = {
                { { "a", "bc", "def" }, 6 + 3 * STRV_EACH, { "a", "bc", "def" } },
                { { "a", "bc", "def" }, 5 + 3 * STRV_EACH, { "a", "bc", "de…" } },
                { { "a", "bc", "def" }, 3 + 2 * STRV_EACH, { "a", "bc", "…" } },
                { { "a", "äöü" }, 4 + 2 * STRV_EACH, { "a", "ä…" } }, /* not within a character */
                { { "abc", "d" }, 0, { "…" } },
                { { NULL }, 0, { NULL } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Strv v = STRV_INIT(8);
                size_t n = 0;

                check_result("push", strv_push_all(&v, cases[i].texts), 0);
                strv_cut(&v, cases[i].bytes);
                for (; cases[i].kept[n]; n++)
                        check_string("kept", n < v.n ? v.items[n] : NULL, cases[i].kept[n]);
                check_uint("number", v.n, n);
                check_result("it can grow", strv_push(&v, "more"), 0);
                check_true("ends", !v.items[v.n]);
                strv_done(&v);
        }
}

TEST(strv_grows_to_its_ceiling) {
        Strv v = STRV_INIT(100);

        check_uint("strings at first", v.n, 0);
        for (size_t i = 0; i < 100; i++) {
                char text[16];

                (void) snprintf(text, sizeof(text), "%zu", i);
                check_result(text, strv_push(&v, text), 0);
                check_true("ends with NULL", v.items[v.n] == NULL);
        }
        check_result("number 101", strv_push(&v, "one too many"), -E2BIG);
        check_uint("strings", v.n, 100);
        check_string("first", v.items[0], "0");
        check_string("last", v.items[99], "99");
        check_true("ends with NULL", v.items[100] == NULL);

        strv_done(&v);
        check_uint("strings after strv_done", v.n, 0);
        check_true("no list after strv_done", v.items == NULL);
        strv_done(&v);
}

TEST(strv_ceiling_of_zero) {
        Strv v = STRV_INIT(0);

        check_result("push", strv_push(&v, "x"), -E2BIG);
        check_result("set", strv_set_env(&v, "A=1"), -E2BIG);
        strv_done(&v);
}

TEST(strv_push_take_leaves_it_on_failure) {
        Strv v = STRV_INIT(1);
        char *first = strdup("a"), *second = strdup("b");

        check_result("first", strv_push_take(&v, first), 0);
        check_true("not copied", v.items[0] == first);
        check_result("second", strv_push_take(&v, second), -E2BIG);
        free(second); /* still ours: the sanitizer would tell */
        strv_done(&v);
}

TEST(strv_env_names_are_whole) {
        Strv v = STRV_INIT(3);

        check_result("AB", strv_set_env(&v, "AB=1"), 0);
        check_result("A", strv_set_env(&v, "A=2"), 0);
        check_result("ABC", strv_set_env(&v, "ABC=3"), 0);
        check_uint("strings", v.n, 3);
        check_string("AB", strv_get_env(&v, "AB"), "1");
        check_string("A", strv_get_env(&v, "A"), "2");
        check_string("ABC", strv_get_env(&v, "ABC"), "3");
        strv_done(&v);
}

TEST(strv_env_replaces) {
        Strv v = STRV_INIT(3);

        check_result("A", strv_set_env(&v, "A=1"), 0);
        check_result("AB", strv_set_env(&v, "AB=2"), 0);
        check_result("B", strv_set_env(&v, "B="), 0);
        check_uint("strings", v.n, 3);
        check_string("A", strv_get_env(&v, "A"), "1");
        check_string("AB", strv_get_env(&v, "AB"), "2");
        check_string("B", strv_get_env(&v, "B"), "");
        check_string("C", strv_get_env(&v, "C"), NULL);
        check_string("no name", strv_get_env(&v, ""), NULL);

        /* Also when full, and in its old place. */
        check_result("A again", strv_set_env(&v, "A=x=y"), 0);
        check_uint("strings", v.n, 3);
        check_string("A", strv_get_env(&v, "A"), "x=y");
        check_string("place", v.items[0], "A=x=y");
        check_string("AB is left alone", strv_get_env(&v, "AB"), "2");
        check_result("C", strv_set_env(&v, "C=3"), -E2BIG);
        strv_done(&v);
}

/* fd */

TEST(array_grows) {
        _cleanup_free_ uint32_t *items = NULL;
        size_t room = 0, n = 0;

        for (; n < 1000; n++) {
                check_result("array_reserve", ARRAY_RESERVE(items, room, n + 1), 0);
                check_true("room", room > n);
                items[n] = (uint32_t) n;
        }
        for (size_t i = 0; i < n; i++)
                check_uint("item", items[i], i);
        room = SIZE_MAX / 8;
        check_result("beyond memory", ARRAY_RESERVE(items, room, SIZE_MAX / 2), -ENOMEM);
        check_uint("room", room, SIZE_MAX / 8);
        check_uint("the array stays", items[999], 999);
}

TEST(array_extends_by_one) {
        _cleanup_free_ uint64_t *items = NULL;

        for (size_t n = 0; n < 100; n++) {
                check_result("array_extend", ARRAY_EXTEND(items, n), 0);
                items[n] = n;
        }
        check_uint("first", items[0], 0);
        check_uint("last", items[99], 99);
        check_result("beyond memory", ARRAY_EXTEND(items, SIZE_MAX / 8), -ENOMEM);
        check_uint("the array stays", items[99], 99);
}

TEST(hex) {
        const uint8_t bytes[] = { 0x00, 0x09, 0xaf, 0xff };
        uint8_t read[sizeof(bytes)];
        char text[2 * sizeof(bytes) + 1];

        hex_encode(bytes, sizeof(bytes), text);
        check_string("digits", text, "0009afff");
        check_result("back", hex_decode(text, read, sizeof(read)), 0);
        check_true("bytes", memcmp(read, bytes, sizeof(bytes)) == 0);
        check_result("capitals", hex_decode("0009AFFF", read, sizeof(read)), 0);
        check_result("too short", hex_decode("0009aff", read, sizeof(read)), -EINVAL);
        check_result("too long", hex_decode("0009afff0", read, sizeof(read)), -EINVAL);
        check_result("no digit", hex_decode("0009agff", read, sizeof(read)), -EINVAL);
        for (int c = 0; c < 256; c++)
                check_int("digit", hex_digit((char) c), isxdigit(c) ? (int) strtol((char[]) { (char) c, '\0' }, NULL, 16) : -1);
}

TEST(string_copy) {
        char *text = NULL;

        check_result("nothing", string_copy(&text, NULL), 0);
        check_true("nothing", text == NULL);
        check_result("one", string_copy(&text, "one"), 0);
        check_result("two", string_copy(&text, "two"), 0);
        check_string("two", text, "two");
        check_result("nothing", string_copy(&text, NULL), 0);
        check_string("stays", text, "two");
        free(text);
}

TEST(fd_close) {
        int fds[2];

        check_int("pipe", pipe2(fds, O_CLOEXEC), 0);
        errno = EXDEV;
        check_result("fd_close", fd_close(fds[0]), -EBADF);
        check_int("closed", fcntl(fds[0], F_GETFD), -1);
        errno = EXDEV;
        check_result("fd_close of none", fd_close(-EBADF), -EBADF);
        check_result("fd_close of a closed one", fd_close(fds[0]), -EBADF);
        check_int("errno is kept", errno, EXDEV);
        (void) close(fds[1]);
}

static void close_zero(_unused_ void *userdata) {
        (void) close(0);
        check_int("the lowest free one", open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
        check_result("fd_close(0)", fd_close(0), -EBADF);
        check_int("closed", fcntl(0, F_GETFD), -1);
}

TEST(fd_zero_is_a_descriptor) {
        unit_run_in_child(close_zero, NULL);
}

TEST(take_leaves_empty) {
        int fd = 7, taken_fd = TAKE_FD(fd);
        char text[] = "x", *p = text, *taken = TAKE_PTR(p);

        check_int("taken", taken_fd, 7);
        check_result("left", fd, -EBADF);
        check_true("taken", taken == text);
        check_true("left", p == NULL);
}

TEST(cleanup_closes) {
        int number;
        {
                _cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

                number = fd;
                check_true("open", fcntl(number, F_GETFD) >= 0);
        }
        check_int("closed", fcntl(number, F_GETFD), -1);
}

static void write_a_lot(void *userdata) {
        static char data[300000];
        const int *fds = userdata;

        (void) close(fds[0]);
        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (char) (i * 7);
        check_result("fd_write_all", fd_write_all(fds[1], data, sizeof(data)), 0);
}

static void copy_through_pipe(_unused_ void *userdata) {
        static char data[300001];
        int fds[2];
        pid_t pid;

        check_int("pipe", pipe2(fds, O_CLOEXEC), 0); /* takes 64 KiB at a time */
        pid = fork();
        if (pid == 0) {
                write_a_lot(fds);
                _exit(0);
        }
        (void) close(fds[1]);
        check_int("fd_read_full, first part", fd_read_full(fds[0], data, 100000), 100000);
        check_int("fd_read_full, to the end", fd_read_full(fds[0], data + 100000, sizeof(data) - 100000),
                        200000);
        check_int("fd_read_full at the end", fd_read_full(fds[0], data, 1), 0);
        for (size_t i = 0; i < 300000; i++)
                if (data[i] != (char) (i * 7))
                        check_int("byte", data[i], (char) (i * 7));
        (void) waitpid(pid, NULL, 0);
}

TEST(fd_write_all_and_read_full) {
        unit_run_in_child(copy_through_pipe, NULL);
}

TEST(fd_read_write_errors) {
        _cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        _cleanup_close_ int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char c;

        check_result("write to /dev/full", fd_write_all(full, "x", 1), -ENOSPC);
        check_result("write of nothing", fd_write_all(full, "", 0), 0);
        check_result("read of a directory", fd_read_full(dir, &c, 1), -EISDIR);
        check_result("read of none", fd_read_full(-EBADF, &c, 1), -EBADF);
        check_result("copy from a directory", fd_copy(dir, full), -EISDIR);
}

TEST(fd_copy) {
        const char *from_path = unit_path("copy-from"), *to_path = unit_path("copy-to");
        static char data[200000], copied[200001];
        _cleanup_close_ int from = -EBADF, to = -EBADF;

        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (char) (i >> 3);
        unit_write_file(from_path, data, sizeof(data));
        from = open(from_path, O_RDONLY | O_CLOEXEC);
        to = open(to_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        check_int("seek", lseek(from, 100, SEEK_SET), 100);
        check_result("fd_copy", fd_copy(from, to), 0);
        check_result("fd_copy at the end", fd_copy(from, to), 0);
        check_int("rewind", lseek(to, 0, SEEK_SET), 0);
        check_int("bytes", fd_read_full(to, copied, sizeof(copied)), sizeof(data) - 100);
        check_true("the same bytes", memcmp(copied, data + 100, sizeof(data) - 100) == 0);
}

TEST(file_write) {
        const char *path = unit_path("written");
        char text[300], buffer[512];

        check_result("a file that is not there", file_write(AT_FDCWD, path, "x"), -ENOENT);
        check_result("is not made", access(path, F_OK), -1);
        unit_write_text(path, "");
        check_result("write", file_write(AT_FDCWD, path, "hello"), 0);
        check_int("read", file_read(AT_FDCWD, path, buffer, sizeof(buffer)), 5);
        check_string("text", buffer, "hello");

        check_result("format", file_write_format(AT_FDCWD, path, "%d %s", 42, "is it"), 0);
        check_int("read", file_read(AT_FDCWD, path, buffer, sizeof(buffer)), 8);
        check_string("text", buffer, "42 is it");

        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        check_result("format that does not fit", file_write_format(AT_FDCWD, path, "%s", text), -E2BIG);
        check_int("nothing was written", file_read(AT_FDCWD, path, buffer, sizeof(buffer)), 8);
        text[255] = '\0';
        check_result("format that just fits", file_write_format(AT_FDCWD, path, "%s", text), 0);
        check_int("read", file_read(AT_FDCWD, path, buffer, sizeof(buffer)), 255);
}

TEST(file_read_fits_or_fails) {
        const char *path = unit_path("five");
        char buffer[8];

        unit_write_text(path, "12345");
        check_result("a buffer of 4", file_read(AT_FDCWD, path, buffer, 4), -EFBIG);
        check_result("a buffer without room for the NUL", file_read(AT_FDCWD, path, buffer, 5), -EFBIG);
        check_int("a buffer of 6", file_read(AT_FDCWD, path, buffer, 6), 5);
        check_string("text", buffer, "12345");
        check_result("missing", file_read(AT_FDCWD, unit_path("missing"), buffer, sizeof(buffer)), -ENOENT);
        check_result("directory", file_read(AT_FDCWD, "/", buffer, sizeof(buffer)), -EISDIR);
}

TEST(file_read_below_a_directory) {
        _cleanup_close_ int dir = open(unit_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        uint64_t value = 0;

        unit_write_text(unit_path("number"), "42\n");
        check_result("number", file_read_uint64(dir, "number", &value), 0);
        check_uint("number", value, 42);
}

TEST(file_read_uint64) {
        static const struct {
                const char *text;
                int result;
                uint64_t value;
        } rows[] = {
                { "0",                      0,        0          },
                { "18446744073709551615\n", 0,        UINT64_MAX },
                { "",                       -EBADMSG, 0          },
                { "\n",                     -EBADMSG, 0          },
                { "max\n",                  -EBADMSG, 0          },
                { "18446744073709551616\n", -EBADMSG, 0          },
        };
        const char *path = unit_path("uint64");

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                uint64_t value = 7;

                unit_write_text(path, rows[i].text);
                check_result(rows[i].text, file_read_uint64(AT_FDCWD, path, &value), rows[i].result);
                check_uint(rows[i].text, value, rows[i].result < 0 ? 7 : rows[i].value);
        }
}

TEST(file_read_alloc_ceiling) {
        static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 100000 };
        static char data[100000];
        const char *path = unit_path("alloc");

        memset(data, 'x', sizeof(data));
        for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
                _cleanup_free_ char *text = NULL;
                char *none = data;
                size_t size = 7;

                unit_write_file(path, data, sizes[i]);
                check_result("at the ceiling", file_read_alloc(AT_FDCWD, path, sizes[i], &text, &size), 0);
                check_uint("size", size, sizes[i]);
                check_true("the same bytes", memcmp(text, data, size) == 0);
                check_int("terminator", text[size], 0);
                if (sizes[i] == 0)
                        continue;
                check_result("beyond it", file_read_alloc(AT_FDCWD, path, sizes[i] - 1, &none, &size),
                                -EFBIG);
                check_true("output untouched", none == data);
        }
}

TEST(file_read_alloc_endless) {
        char *text = NULL;

        check_result("/dev/zero", file_read_alloc(AT_FDCWD, "/dev/zero", 1 << 20, &text, NULL), -EFBIG);
        check_result("directory", file_read_alloc(AT_FDCWD, "/", 1 << 20, &text, NULL), -EISDIR);
        check_result("missing", file_read_alloc(AT_FDCWD, "/nowhere/at/all", 1 << 20, &text, NULL), -ENOENT);
        check_true("output untouched", text == NULL);
}

TEST(file_read_alloc_keeps_nul) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;

        unit_write_file(unit_path("nul"), "a\0b", 3);
        check_result("read", file_read_alloc(AT_FDCWD, unit_path("nul"), 10, &text, &size), 0);
        check_uint("size", size, 3);
        check_true("bytes", memcmp(text, "a\0b", 4) == 0);
}

TEST(files_leave_no_descriptor) {
        size_t before = unit_count_descriptors();
        char buffer[4], *text = NULL;
        uint64_t value;

        unit_write_text(unit_path("leak"), "no number");
        for (int i = 0; i < 10; i++) {
                check_result("write", file_write(AT_FDCWD, unit_path("leak"), "abcdefgh"), 0);
                check_result("read", file_read(AT_FDCWD, unit_path("leak"), buffer, sizeof(buffer)), -EFBIG);
                check_result("uint64", file_read_uint64(AT_FDCWD, unit_path("leak"), &value), -EBADMSG);
                check_result("alloc", file_read_alloc(AT_FDCWD, unit_path("leak"), 4, &text, NULL), -EFBIG);
        }
        check_uint("descriptors", unit_count_descriptors(), before);
}

/* error */

TEST(error_set) {
        Error e = { 0 };

        check_result("code", error_set(&e, -ENOENT, "%s has %d", "it", 3), -ENOENT);
        check_result("code inside", e.code, -ENOENT);
        check_string("text", e.text, "it has 3");
        check_result("%m", error_set(&e, -ENOENT, "open: %m"), -ENOENT);
        check_string("%m", e.text, "open: No such file or directory");
        errno = EPERM;
        check_result("%m is the code's", error_set(&e, -ENOSPC, "%m"), -ENOSPC);
        check_string("%m is the code's", e.text, "No space left on device");
        check_result("nobody listens", error_set(NULL, -EIO, "%m"), -EIO);
}

TEST(error_prefix) {
        Error e = { 0 };

        (void) error_set(&e, -ENOENT, "no such key");
        check_result("code", error_prefix(&e, -EINVAL, "line %d", 4), -EINVAL);
        check_result("code inside", e.code, -EINVAL);
        check_string("text", e.text, "line 4: no such key");
        (void) error_prefix(&e, -EINVAL, "file");
        check_string("twice", e.text, "file: line 4: no such key");
        check_result("nobody listens", error_prefix(NULL, -EIO, "x"), -EIO);
}

TEST(error_kinds) {
        static const int mine[] = { EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC, EDQUOT, EAGAIN, EINTR };
        static const int theirs[] = { 0, ECONNREFUSED, ECONNRESET, EPIPE, ENOENT, ESRCH, EBADMSG, EPROTO };

        for (size_t i = 0; i < ELEMENTSOF(mine); i++)
                check_true(strerror(mine[i]), error_is_shortage(mine[i]) && error_is_shortage(-mine[i]));
        for (size_t i = 0; i < ELEMENTSOF(theirs); i++)
                check_true(strerror(theirs[i]), !error_is_shortage(theirs[i]) && !error_is_shortage(-theirs[i]));
}

static size_t open_until_refused(int *fds, size_t max) {
        size_t n = 0;

        while (n < max && (fds[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0)
                n++;
        return n;
}

static void use_the_reserve(void *userdata) {
        static int fds[256], more[256];
        size_t n;

        check_result("larger than all", reserve_make(100, 100), -EINVAL);
        check_result("made", reserve_make(100, 10), 0);
        n = open_until_refused(fds, ELEMENTSOF(fds));
        check_int("the last for everybody", fds[n - 1], 89);
        {
                _reserve_ bool held = reserve_enter();
                {
                        _reserve_ bool nested = reserve_enter();
                }
                check_uint("the reserve", open_until_refused(more, 5), 5);
        }
        check_uint("after that", open_until_refused(more + 5, 5), 0);
        {
                _reserve_ bool held = reserve_enter();

                check_uint("the rest of it", open_until_refused(more + 5, ELEMENTSOF(more) - 5), 5);
        }
}

TEST(reserve) {
        unit_run_in_child(use_the_reserve, NULL);
}

TEST(error_truncates) {
        char longer[2 * ERROR_TEXT_MAX];
        struct {
                Error e;
                char after[8];
        } box = { .after = "sentry" };

        memset(longer, 'x', sizeof(longer) - 1);
        longer[sizeof(longer) - 1] = '\0';
        (void) error_set(&box.e, -EIO, "%s", longer);
        check_uint("set", strlen(box.e.text), ERROR_TEXT_MAX - 1);
        (void) error_prefix(&box.e, -EIO, "a");
        check_uint("prefix on a full text", strlen(box.e.text), ERROR_TEXT_MAX - 1);
        check_part("prefix on a full text", box.e.text, "a: xxx");
        (void) error_prefix(&box.e, -EIO, "%s", longer);
        check_uint("prefix that is too long", strlen(box.e.text), ERROR_TEXT_MAX - 1);
        check_string("what lies behind", box.after, "sentry");
}

/* log */

static char *capture(void (*speak)(void), char *buffer, size_t size) {
        int fds[2], saved = dup(STDERR_FILENO);
        ssize_t n;

        check_int("pipe", pipe2(fds, O_CLOEXEC), 0);
        (void) dup2(fds[1], STDERR_FILENO);
        (void) close(fds[1]);
        speak();
        (void) dup2(saved, STDERR_FILENO);
        (void) close(saved);
        n = fd_read_full(fds[0], buffer, size - 1);
        (void) close(fds[0]);
        check_true("captured", n >= 0);
        buffer[n] = '\0';
        return buffer;
}

static void speak_lines(void) {
        errno = ENOENT;
        log_error("cannot open '%s': %m", "x");
        check_int("errno is kept", errno, ENOENT);
        log_warning("%d left", 3);
        log_verbosity = 0;
        log_debug("not seen");
        log_verbosity = 1;
        log_debug("seen");
        log_verbosity = 0;
}

static void speak_json(void) {
        log_json = log_infos = true;
        log_error("a \"quoted\" \\ and \xff bad byte, ü");
        log_warning("sandbox sabcdefghij0123456789: gone\nnext");
        log_sandbox("info", "s0123456789abcdefghij", "ready");
        log_sandbox("debug", "s0123456789abcdefghij", "not seen");
        log_json = log_infos = false;
        log_sandbox("info", "s0123456789abcdefghij", "not seen");
        log_sandbox("warning", "s0123456789abcdefghij", "seen");
}

/* Items 110, 138: structured, with the sandbox's id as a member. */
TEST(log_lines_as_json) {
        char text[1024];
        const char *lines = capture(speak_json, text, sizeof(text));

        check_part("time", lines, "{\"time\":\"20");
        check_part("escapes", lines, "Z\",\"level\":\"error\",\"message\":\"a \\\"quoted\\\" \\\\ and ? bad byte, ü\"}\n");
        check_part("sandbox", lines, "\"message\":\"sandbox sabcdefghij0123456789: gone?next\",\"sandbox\":\"sabcdefghij0123456789\"}\n");
        check_part("info", lines, "\"level\":\"info\",\"message\":\"sandbox s0123456789abcdefghij: ready\",\"sandbox\":\"s0123456789abcdefghij\"}\n"
                                  "cove: warning: sandbox s0123456789abcdefghij: seen\n");
}

TEST(log_lines) {
        char text[512];

        check_string("lines", capture(speak_lines, text, sizeof(text)),
                        "cove: cannot open 'x': No such file or directory\n"
                        "cove: warning: 3 left\n"
                        "cove: debug: seen\n");
}

static void speak_in_a_storm(void) {
        log_bounded = true;
        for (unsigned i = 0; i < 10 * LOG_BURST; i++)
                log_warning("number %u", i);
        log_warning("another place");
        log_bounded = false;
        for (unsigned i = 0; i < LOG_BURST; i++)
                log_warning("a person's");
}

TEST(log_bounds_a_storm) {
        static char text[64 << 10];
        char last[32];
        size_t n = 0;

        (void) capture(speak_in_a_storm, text, sizeof(text));
        for (const char *p = text; (p = strchr(p, '\n')); p++)
                n++;
        check_uint("lines", n, LOG_BURST + 1 + LOG_BURST);
        (void) snprintf(last, sizeof(last), "number %d\n", LOG_BURST - 1);
        check_part("the first of them", text, last);
        check_part("of another place", text, "another place\n");
}

static void speak_at_length(void) {
        char text[5000];

        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        log_warning("%s", text);
}

TEST(log_cuts_a_long_line) {
        char text[6000];
        size_t n = strlen(capture(speak_at_length, text, sizeof(text)));

        check_true("about 2 KiB", n > 2000 && n <= 2048);
        check_true("one newline, at the end", strchr(text, '\n') == text + n - 1);
}

static int program_end(const ProgramStart *s) {
        int status = -1;
        pid_t pid;

        check_result("program_start", program_start(s, &pid), 0);
        check_int("waitpid", waitpid(pid, &status, 0), pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Numbers that are each other's: what is copied first must not take the place of what comes next. */
TEST(program_descriptors) {
        const char *const argv[] = { "sh", "-c", "read a <&3; read b <&4; [ \"$a$b\" = onetwo ] && [ /dev/fd/0 -ef /dev/null ] && ! [ -e /dev/fd/5 ]", NULL };
        int one[2], two[2], kept = dup(3);

        check_true("pipes", pipe2(one, O_CLOEXEC) == 0 && pipe2(two, O_CLOEXEC) == 0);
        check_true("written", write(one[1], "one\n", 4) == 4 && write(two[1], "two\n", 4) == 4);
        check_int("4 is the first", dup3(one[0], 4, O_CLOEXEC), 4);
        check_int("3 is the second", dup3(two[0], 3, O_CLOEXEC), 3);
        check_int("end", program_end(&(ProgramStart) { "/bin/sh", argv, NULL, (const int[]) { -EBADF, 1, 2, 4, 3 }, 5 }), 0);
        for (int i = 0; i < 2; i++) {
                (void) fd_close(one[i]);
                (void) fd_close(two[i]);
        }
        if (kept >= 0)
                (void) dup2(kept, 3);
        (void) fd_close(kept);
}

TEST(program_session_and_environment) {
        char *environment[] = { (char *) "ONLY=this", NULL };
        const char *const argv[] = { "sh", "-c", "[ \"$ONLY\" = this ] && [ -z \"$HOME\" ] && [ $(cut -d' ' -f6 /proc/$$/stat) = $$ ]", NULL };
        const int fds[] = { -EBADF, STDERR_FILENO, STDERR_FILENO };

        check_int("of its own", program_end(&(ProgramStart) { "/bin/sh", argv, environment, fds, ELEMENTSOF(fds), .session = true }), 0);
        check_int("not of its own", program_end(&(ProgramStart) { "/bin/sh", argv, environment, fds, ELEMENTSOF(fds) }), 1);
        check_result("none", program_start(&(ProgramStart) { "/nowhere", argv, NULL, fds, ELEMENTSOF(fds) }, &(pid_t) { 0 }), -ENOENT);
}

TEST(program_failure) {
        static const struct {
                const char *said, *text;
                int r, code;
        } cases[] = {
                { "2 no such object\n",        "no such object", 0,        -ENOENT },
                { "noise\n5 the disk fails\n",         "the disk fails",         0,        -EIO    },
                { "no number\n",                       NULL,                     -ENODATA, 0       },
                { "99999 too large a number\n",        NULL,                     -ENODATA, 0       },
                { "5\n",                               NULL,                     -ENODATA, 0       },
                { "",                                  NULL,                     -ENODATA, 0       },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
                Error error = { 0 };

                check_result("program_pipe", program_pipe(&ours, &theirs), 0);
                check_result("write", fd_write_all(theirs, cases[i].said, strlen(cases[i].said)), 0);
                check_result(cases[i].said, program_read_failure(ours, &error), cases[i].r);
                check_int("code", error.code, cases[i].code);
                if (cases[i].text)
                        check_string("text", error.text, cases[i].text);
        }
}

TEST(program_failure_is_one_line) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF, kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        Error error = { 0 }, read = { 0 };

        (void) error_set(&error, -EBADMSG, "'a\nb\x1b[2J': is damaged");
        check_result("program_pipe", program_pipe(&ours, &theirs), 0);
        check_int("stderr", dup2(theirs, STDERR_FILENO), STDERR_FILENO);
        program_tell_failure(&error);
        check_int("back", dup2(kept, STDERR_FILENO), STDERR_FILENO);
        check_result("read", program_read_failure(ours, &read), 0);
        check_int("code", read.code, -EBADMSG);
        check_string("text", read.text, "'a?b?[2J': is damaged");
}

TEST(directory) {
        _cleanup_(strv_done) Strv names = STRV_INIT(2), more = STRV_INIT(8);
        _cleanup_directory_ DIR *none = directory_open(AT_FDCWD, "/nowhere");
        char path[] = "/tmp/cove-directory-XXXXXX";
        _cleanup_close_ int dirfd = -EBADF;

        check_int("errno", errno, ENOENT);
        check_true("none has no entries", !none && !directory_next(none));
        check_true("directory", mkdtemp(path) != NULL);
        dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int("a", mkdirat(dirfd, "a", 0700), 0);
        check_int("link", symlinkat("a", dirfd, "..."), 0);
        check_result("names", directory_names(dirfd, &names), 0);
        check_uint("neither . nor ..", names.n, 2);
        check_true("both", strcmp(names.items[0], names.items[1]) != 0);
        check_result("again", directory_names(dirfd, &names), -E2BIG);
        check_result("from the beginning", directory_names(dirfd, &more), 0);
        check_uint("all", more.n, 2);
        check_true("a link is no directory", !directory_open_nofollow(dirfd, "..."));
        check_int("errno", errno, ENOTDIR);
        {
                _cleanup_directory_ DIR *through = directory_open(dirfd, "...");

                check_true("unless it is followed", through && !directory_next(through));
                check_int("the end", errno, 0);
        }
        check_true("clean", unlinkat(dirfd, "...", 0) == 0 && unlinkat(dirfd, "a", AT_REMOVEDIR) == 0 && rmdir(path) == 0);
}

TEST(hashset) {
        HashSet s = { 0 };

        check_true("empty", !hashset_has(&s, 0) && !hashset_take(&s, 0));
        for (uint64_t h = 0; h < 5000; h++)
                check_result("add", hashset_add(&s, h * UINT64_C(0x9e3779b97f4a7c15)), 0);
        check_result("again", hashset_add(&s, UINT64_C(0x9e3779b97f4a7c15)), 0);
        for (uint64_t h = 0; h < 5000; h++)
                check_true("has", hashset_has(&s, h * UINT64_C(0x9e3779b97f4a7c15)));
        check_true("has no other", !hashset_has(&s, 12345));
        for (uint64_t h = 0; h < 5000; h += 2)
                check_true("take", hashset_take(&s, h * UINT64_C(0x9e3779b97f4a7c15)));
        for (uint64_t h = 0; h < 5000; h++)
                check_true("what was taken is gone", hashset_has(&s, h * UINT64_C(0x9e3779b97f4a7c15)) == (h % 2 == 1));
        hashset_done(&s);
}

TEST(directory_remove) {
        char path[] = "/tmp/cove-directory-XXXXXX";
        _cleanup_close_ int dirfd = -EBADF;

        check_true("directory", mkdtemp(path) != NULL);
        dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_true("tree", mkdirat(dirfd, "a", 0700) == 0 && mkdirat(dirfd, "a/b", 0700) == 0 && mkdirat(dirfd, "kept", 0700) == 0 &&
                        symlinkat("../kept", dirfd, "a/b/link") == 0 && mkdirat(dirfd, "kept/inside", 0700) == 0);
        check_result("too deep", directory_remove(dirfd, "a", 1), -ELOOP);
        check_int("stays", faccessat(dirfd, "a/b", F_OK, 0), 0);
        check_result("all", directory_remove(dirfd, "a", 2), 0);
        check_int("gone", faccessat(dirfd, "a", F_OK, 0), -1);
        check_int("a link is not followed", faccessat(dirfd, "kept/inside", F_OK, 0), 0);
        check_result("nothing", directory_remove(dirfd, "a", 2), -ENOENT);
        check_result("the rest", directory_remove(AT_FDCWD, path, 3), 0);
}

TEST(strv_extends) {
        _cleanup_(strv_done) Strv v = STRV_INIT(4), more = STRV_INIT(4);

        check_result("none", strv_extend(&v, NULL), 0);
        check_result("empty", strv_extend(&v, &more), 0);
        check_result("some", strv_push_all(&more, (const char *const[]) { "a", "b", NULL }), 0);
        check_result("more", strv_extend(&v, &more), 0);
        check_result("again", strv_extend(&v, &more), 0);
        check_uint("four", v.n, 4);
        check_true("copies", v.items[0] != more.items[0] && strcmp(v.items[3], "b") == 0 && !v.items[4]);
        check_result("ceiling", strv_extend(&v, &more), -E2BIG);
        check_result("none", strv_push_all(&more, NULL), 0);
}

TEST(error_suffix_and_hide) {
        Error e = { 0 };

        (void) error_set(&e, -EPERM, "limit");
        check_result("code", error_suffix(&e, -EINVAL, " of %d", 3), -EINVAL);
        check_string("text", e.text, "limit of 3");
        check_result("nothing", error_suffix(NULL, -EINVAL, "x"), -EINVAL);
        (void) error_set(&e, -EPERM, "cannot write '/srv/cove/box/a': /srv/cove, /srv/cover/x /other/srv");
        error_hide(&e, "/srv/cove");
        check_string("hidden", e.text, "cannot write '…': …, … /other/srv");
        error_hide(&e, "");
        error_hide(&e, "/nowhere");
        check_string("unchanged", e.text, "cannot write '…': …, … /other/srv");
}
