#include "base/program.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "config.h"

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

int program_path(const char *name, char **ret) {
        char directory[PATH_MAX];

        if (program_own_directory(directory, sizeof(directory)) == 0 && try_directory(directory, name, ret) == 0)
                return 0;
        return try_directory(COVE_LIBEXEC_DIR, name, ret);
}

int program_start(const char *path, const char *const *argv, char *const *environment, const int *fds, size_t n, pid_t *ret) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, defaults;
        int r;

        (void) sigemptyset(&none);
        (void) sigemptyset(&defaults);
        (void) sigaddset(&defaults, SIGPIPE);
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawnattr_init(&attributes);
        r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (r == 0)
                r = posix_spawnattr_setsigmask(&attributes, &none);
        if (r == 0)
                r = posix_spawnattr_setsigdefault(&attributes, &defaults);
        for (size_t i = 0; i < n && r == 0; i++)
                r = posix_spawn_file_actions_adddup2(&actions, fds[i], (int) i);
        if (r == 0)
                r = posix_spawn(ret, path, &actions, &attributes, (char *const *) argv, environment ? environment : environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) posix_spawnattr_destroy(&attributes);
        return -r;
}
