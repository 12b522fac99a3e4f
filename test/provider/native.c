/* native.c: the native provider under test, with a cove-spawner of its own. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "conformance.h"
#include "provider/native.h"

#define CHANNEL_FD 3

static char instance[9];

static const char *spawner_path(void) {
        const char *path = getenv("COVE_SPAWNER");

        return path ? path : SOURCE_ROOT "/build/bin/cove-spawner";
}

/* In the names of kernel objects: another one in each run. */
static void make_instance(void) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
        unsigned char random[sizeof(instance) - 1];

        if (instance[0] || getentropy(random, sizeof(random)) < 0)
                return;
        for (size_t i = 0; i < sizeof(random); i++)
                instance[i] = letters[random[i] % 32];
}

static int start_spawner(const char *state_dir, int channel) {
        const char *const argv[] = { spawner_path(), "--channel", "3", "--instance", instance, "--state-dir", state_dir, "--storage-size", "268435456", NULL };
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        pid_t pid;
        int r;

        (void) posix_spawnattr_init(&attributes);
        (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        (void) posix_spawn_file_actions_adddup2(&actions, channel, CHANNEL_FD);
        r = posix_spawn(&pid, argv[0], &actions, &attributes, (char *const *) argv, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) posix_spawnattr_destroy(&attributes);
        return -r;
}

static Provider *native_make(sd_event *event, const char *state_dir, Error *reterr) {
        static char run_dir[512];
        NativeConfig config = { .run_dir = run_dir, .instance = instance, .privileged = true };
        int fds[2], theirs, r;
        Provider *p = NULL;

        if (geteuid() != 0 || access(spawner_path(), X_OK) < 0) {
                (void) error_set(reterr, -EPERM, "needs root and cove-spawner: run as root, after script/build");
                return NULL;
        }
        (void) signal(SIGCHLD, SIG_IGN);
        make_instance();
        (void) snprintf(run_dir, sizeof(run_dir), "%s/run", state_dir);
        (void) mkdir(run_dir, 0700);
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return NULL;
        theirs = fcntl(fds[1], F_DUPFD_CLOEXEC, CHANNEL_FD + 1);
        (void) fd_close(fds[1]);
        r = start_spawner(state_dir, theirs);
        (void) fd_close(theirs);
        (void) fcntl(fds[0], F_SETFL, O_NONBLOCK);
        config.spawner_fd = fds[0];
        if (r >= 0)
                r = native_new(event, &config, &p, reterr);
        else
                (void) error_set(reterr, r, "cannot start %s: %m", spawner_path());
        return r < 0 ? NULL : p;
}

static const char *native_workdir(void) {
        return "/workspace";
}

const ProviderFactory provider_factory = { .make = native_make, .workdir = native_workdir };
