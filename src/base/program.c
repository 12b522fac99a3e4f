#include "base/program.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/parse.h"
#include "base/text.h"
#include "config.h"

#define FAILURE_MAX 1024

static int program_own_directory(char *buffer, size_t size) {
        ssize_t n = readlink("/proc/self/exe", buffer, size - 1);
        char *slash;

        if (n < 0)
                return -errno;
        buffer[n] = '\0';
        slash = strrchr(buffer, '/');
        if (!slash)
                return -ENOENT;
        *slash = '\0';
        return 0;
}

static int try_directory(const char *directory, const char *name, char **ret) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s", directory, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (access(path, X_OK) < 0)
                return -errno;
        *ret = TAKE_PTR(path);
        return 0;
}

/* The installation can be moved as a whole: PREFIX/libexec/cove is found relative to PREFIX/bin. */
static int program_try_prefix(const char *own_directory, const char *name, char **ret) {
        _cleanup_free_ char *directory = NULL;

        if (asprintf(&directory, "%s/../libexec/cove", own_directory) < 0) {
                directory = NULL;
                return -ENOMEM;
        }
        return try_directory(directory, name, ret);
}

static int program_find(const char *name, char **ret) {
        char directory[PATH_MAX];

        if (program_own_directory(directory, sizeof(directory)) == 0 &&
                        (try_directory(directory, name, ret) == 0 || program_try_prefix(directory, name, ret) == 0))
                return 0;
        return try_directory(COVE_LIBEXEC_DIR, name, ret);
}

static struct {
        const char *name;
        int fd;
} kept[PROGRAM_KEPT_MAX];
static size_t n_kept;

int program_path(const char *name, char **ret) {
        int r = program_find(name, ret);

        for (size_t i = 0; i < n_kept && r < 0 && r != -ENOMEM; i++)
                if (strcmp(kept[i].name, name) == 0) {
                        if (asprintf(ret, "/proc/self/fd/%d", kept[i].fd) >= 0)
                                return 0;
                        *ret = NULL;
                        return -ENOMEM;
                }
        return r;
}

/* Above the numbers of a program's own descriptors, which are filled before it is executed. */
int program_keep(const char *name) {
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int fd = -EBADF;
        int high, r = n_kept < PROGRAM_KEPT_MAX ? program_find(name, &path) : -ENOSPC;

        if (r < 0)
                return r;
        fd = open(path, O_PATH | O_CLOEXEC);
        high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, PROGRAM_FDS_MAX);
        if (high < 0)
                return -errno;
        kept[n_kept].name = name;
        kept[n_kept++].fd = high;
        return 0;
}

void program_set_name(const char *name) {
        (void) prctl(PR_SET_NAME, name);
}

/* Copies above all numbers that are to be filled; otherwise one could overwrite another that is not copied yet. */
static int program_copy_descriptors(const ProgramStart *s, int ret[static PROGRAM_FDS_MAX]) {
        _cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (null < 0)
                return -errno;
        for (size_t i = 0; i < s->n_fds; i++) {
                ret[i] = fcntl(s->fds[i] >= 0 ? s->fds[i] : null, F_DUPFD_CLOEXEC, PROGRAM_FDS_MAX);
                if (ret[i] < 0)
                        return -errno;
        }
        return 0;
}

static int program_spawn(const ProgramStart *s, const int *fds, pid_t *ret) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, defaults;
        int r;

        (void) sigemptyset(&none);
        (void) sigemptyset(&defaults);
        (void) sigaddset(&defaults, SIGPIPE);
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawnattr_init(&attributes);
        r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (s->session ? POSIX_SPAWN_SETSID : 0));
        if (r == 0)
                r = posix_spawnattr_setsigmask(&attributes, &none);
        if (r == 0)
                r = posix_spawnattr_setsigdefault(&attributes, &defaults);
        for (size_t i = 0; i < s->n_fds && r == 0; i++)
                r = posix_spawn_file_actions_adddup2(&actions, fds[i], (int) i);
        if (r == 0)
                r = posix_spawn(ret, s->path, &actions, &attributes, (char *const *) s->argv, s->environment ? s->environment : environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) posix_spawnattr_destroy(&attributes);
        return -r;
}

int program_start(const ProgramStart *s, pid_t *ret) {
        int fds[PROGRAM_FDS_MAX], r;

        assert(s->n_fds <= PROGRAM_FDS_MAX);
        for (size_t i = 0; i < s->n_fds; i++)
                fds[i] = -EBADF;
        r = program_copy_descriptors(s, fds);
        if (r >= 0)
                r = program_spawn(s, fds, ret);
        for (size_t i = 0; i < s->n_fds; i++)
                (void) fd_close(fds[i]);
        return r;
}

void program_kill(pid_t pid) {
        if (kill(pid, SIGKILL) >= 0)
                while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                        ;
}

int program_pipe(int *ret_ours, int *ret_theirs) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_ours = fds[0];
        *ret_theirs = fds[1];
        return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

void program_tell_failure(const Error *error) {
        char line[ERROR_TEXT_MAX + 16];

        (void) snprintf(line, sizeof(line) - 1, "%d %s", -error->code, error->text);
        text_tame(line);
        (void) strcat(line, "\n");
        (void) fd_write_all(STDERR_FILENO, line, strlen(line));
}

int program_read_failure(int fd, Error *ret) {
        char text[FAILURE_MAX], *end, *last, *space;
        ssize_t n = read(fd, text, sizeof(text) - 1);
        uint64_t number;

        text[MAX_OF(n, (ssize_t) 0)] = '\0';
        for (end = text + strlen(text); end > text && end[-1] == '\n';)
                *--end = '\0';
        last = strrchr(text, '\n');
        last = last ? last + 1 : text;
        space = strchr(last, ' ');
        if (space)
                *space++ = '\0';
        if (!space || parse_uint64(last, 1, 4095, &number) < 0)
                return -ENODATA;
        (void) error_set(ret, -(int) number, "%s", space);
        return 0;
}
