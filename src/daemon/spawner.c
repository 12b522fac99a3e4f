#include "daemon/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"

#define CHANNEL_FD     3
#define ARGUMENTS_MAX  256
#define CHANNEL_BUFFER (4 << 20)

static int push_arguments(Strv *argv, const char *program, const SpawnerArguments *a) {
        char bytes[32];
        const char *const fixed[] = {
                program, "--channel", "3", "--instance", a->instance, "--state-dir", a->state_dir, "--storage-size", bytes,
        };
        int r;

        (void) snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long) a->storage_bytes);
        for (size_t i = 0; i < ELEMENTSOF(fixed); i++) {
                r = strv_push(argv, fixed[i]);
                if (r < 0)
                        return r;
        }
        if (log_json) {
                r = strv_push(argv, "--log-json");
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < a->templates->n; i++) {
                r = strv_push(argv, "--template");
                if (r >= 0)
                        r = strv_push(argv, a->templates->items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A session of its own: Ctrl-C is meant for the daemon, whose end is the spawner's. */
static int run(char *const *argv, int channel) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none;
        pid_t pid;
        int r;

        (void) sigemptyset(&none);
        (void) posix_spawnattr_init(&attributes);
        (void) posix_spawnattr_setsigmask(&attributes, &none);
        (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        (void) posix_spawn_file_actions_adddup2(&actions, 2, 1);
        (void) posix_spawn_file_actions_adddup2(&actions, channel, CHANNEL_FD);
        r = posix_spawn(&pid, argv[0], &actions, &attributes, argv, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) posix_spawnattr_destroy(&attributes);
        return -r;
}

int spawner_start(const SpawnerArguments *a, int *ret_fd, Error *reterr) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        _cleanup_free_ char *program = NULL;
        _cleanup_(strv_done) Strv argv = STRV_INIT(ARGUMENTS_MAX);
        int fds[2], r, size = CHANNEL_BUFFER;

        r = program_path("cove-spawner", &program);
        if (r < 0)
                return error_set(reterr, r, "cannot find cove-spawner beside coved: is the installation complete?");
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return error_set(reterr, -errno, "cannot make a socket pair: %m");
        ours = fds[0];
        theirs = fcntl(fds[1], F_DUPFD_CLOEXEC, CHANNEL_FD + 1); /* dup2 onto itself would keep close-on-exec */
        (void) fd_close(fds[1]);
        if (theirs < 0)
                return error_set(reterr, -errno, "cannot make a socket pair: %m");
        (void) setsockopt(ours, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        (void) setsockopt(theirs, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));

        r = push_arguments(&argv, program, a);
        if (r >= 0)
                r = run(argv.items, theirs);
        if (r < 0)
                return error_set(reterr, r, "cannot start '%s': %m", program);
        if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
                return error_set(reterr, -errno, "cannot set up the channel: %m");
        *ret_fd = TAKE_FD(ours);
        return 0;
}
