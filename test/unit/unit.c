#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

#define TESTS_MAX   64
#define STATUS_SKIP 77 /* the shared convention */

static struct CMUnitTest tests[TESTS_MAX]; /* cmocka passes over the empty ones */
static size_t n_tests;
static size_t n_skipped;
static bool in_child;

void unit_register(const char *name, TestFunction function) {
        if (n_tests == TESTS_MAX) {
                fprintf(stderr, "more than %d tests: '%s' is one too many\n", TESTS_MAX, name);
                abort();
        }
        tests[n_tests++] = (struct CMUnitTest) { .name = name, .test_func = function };
}

static void give_up(const char *file, int line) {
        if (in_child) {
                fprintf(stderr, "%s:%d: in a child\n", file, line);
                (void) fflush(NULL);
                _exit(1);
        }
        _fail(file, line);
}

void unit_check_int(const char *what, intmax_t found, intmax_t expected, const char *file, int line) {
        if (found == expected)
                return;
        print_error("%s: found %jd, not %jd\n", what, found, expected);
        give_up(file, line);
}

void unit_check_uint(const char *what, uintmax_t found, uintmax_t expected, const char *file, int line) {
        if (found == expected)
                return;
        print_error("%s: found %ju (0x%jx), not %ju (0x%jx)\n", what, found, found, expected, expected);
        give_up(file, line);
}

static const char *result_text(intmax_t result, char *buffer, size_t size) {
        const char *name = result < 0 && result >= -4095 ? strerrorname_np((int) -result) : NULL;

        if (name)
                (void) snprintf(buffer, size, "-%s", name);
        else
                (void) snprintf(buffer, size, "%jd", result);
        return buffer;
}

void unit_check_result(const char *what, intmax_t found, intmax_t expected, const char *file, int line) {
        char a[32], b[32];

        if (found == expected)
                return;
        print_error("%s: found %s, not %s\n", what, result_text(found, a, sizeof(a)),
                        result_text(expected, b, sizeof(b)));
        give_up(file, line);
}

void unit_check_string(
                const char *what, const char *found, const char *expected, const char *file, int line) {
        if (found && expected && strcmp(found, expected) == 0)
                return;
        if (!found && !expected)
                return;
        print_error("%s: found \"%s\", not \"%s\"\n", what, found ? found : "(NULL)",
                        expected ? expected : "(NULL)");
        give_up(file, line);
}

void unit_check_part(const char *what, const char *text, const char *part, const char *file, int line) {
        if (strstr(text, part))
                return;
        print_error("%s: \"%s\" does not contain \"%s\"\n", what, text, part);
        give_up(file, line);
}

void unit_check_true(const char *what, int condition, const char *text, const char *file, int line) {
        if (condition)
                return;
        print_error("%s: not so: %s\n", what, text);
        give_up(file, line);
}

void unit_run_in_child(void (*function)(void *userdata), void *userdata) {
        int status;
        pid_t pid;

        (void) fflush(NULL);
        pid = fork();
        if (pid < 0)
                fail_msg("fork: %s", strerror(errno));
        if (pid == 0) {
                in_child = true;
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is ended leaves nothing */
                function(userdata);
                (void) fflush(NULL);
                _exit(0);
        }
        if (waitpid(pid, &status, 0) != pid)
                fail_msg("waitpid: %s", strerror(errno));
        if (WIFSIGNALED(status))
                fail_msg("the child was ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
        if (WEXITSTATUS(status) == STATUS_SKIP) {
                n_skipped++;
                skip();
        }
        if (WEXITSTATUS(status) != 0)
                fail_msg("the child ended with %d", WEXITSTATUS(status));
}

void unit_skip(const char *format, ...) {
        va_list ap;

        fprintf(stderr, "skipped: ");
        va_start(ap, format);
        (void) vfprintf(stderr, format, ap);
        va_end(ap);
        fprintf(stderr, "\n");
        if (in_child)
                _exit(STATUS_SKIP);
        n_skipped++;
        skip();
        abort(); /* skip() has jumped */
}

static char directory[PATH_MAX];

const char *unit_directory(void) {
        const char *base = getenv("TMPDIR");

        if (directory[0])
                return directory;
        (void) snprintf(directory, sizeof(directory), "%s/cove-unit-XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(directory)) {
                fprintf(stderr, "cannot make %s: %m\n", directory);
                abort();
        }
        return directory;
}

const char *unit_path(const char *name) {
        static char paths[8][PATH_MAX];
        static size_t next;
        char *path = paths[next++ % ELEMENTSOF(paths)];

        if ((size_t) snprintf(path, sizeof(paths[0]), "%s/%s", unit_directory(), name) >= sizeof(paths[0]))
                fail_msg("path too long: %s", name);
        return path;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int type,
                _unused_ struct FTW *place) {
        return remove(path);
}

void unit_write_file(const char *path, const void *data, size_t size) {
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        check_true(path, fd >= 0);
        check_result(path, fd_write_all(fd, data, size), 0);
}

void unit_write_text(const char *path, const char *text) {
        unit_write_file(path, text, strlen(text));
}

size_t unit_count_descriptors(void) {
        DIR *d = opendir("/proc/self/fd");
        size_t n = 0;

        check_true("/proc/self/fd", d != NULL);
        while (readdir(d))
                n++;
        (void) closedir(d);
        return n;
}

int main(int argc, char **argv) {
        const char *slash = strrchr(argv[0], '/');
        int n_failed;

        (void) unit_directory(); /* here, so that one asked for by a child is removed by us */
        if (argc > 1)
                cmocka_set_test_filter(argv[1]);
        n_failed = cmocka_run_group_tests_name(slash ? slash + 1 : argv[0], tests, NULL, NULL);
        (void) nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        if (n_failed != 0) {
                /* A test that failed has jumped over its cleanups: what it leaked is no news. */
                (void) fflush(NULL);
                _exit(1);
        }
        return n_skipped > 0 ? STATUS_SKIP : 0;
}
