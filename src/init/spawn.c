#include "init/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "confine/caps.h"
#include "confine/seccomp.h"

#define SPAWN_STACK_SIZE (64 * 1024)
#define CHANNEL_FD       3

typedef struct SpawnChild {
        const SpawnSpec *spec;
        SpawnFailure failure;
} SpawnChild;

static int spawn_step_signals(SpawnChild *c) {
        sigset_t none;

        for (int signal_number = 1; signal_number < _NSIG && !c->spec->prepared; signal_number++) {
                struct sigaction action = { .sa_handler = SIG_DFL };
                (void) sigaction(signal_number, &action, NULL); /* fails for KILL, STOP and the signals of libc itself */
        }
        (void) sigemptyset(&none);
        return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

static int step_session(SpawnChild *c) {
        return setsid() < 0 ? -errno : 0;
}

static int step_stdio(SpawnChild *c) {
        for (int i = 0; i < 3; i++)
                if (c->spec->stdio[i] >= 0 && dup2(c->spec->stdio[i], i) < 0)
                        return -errno;
        /* If it has the right number already, only its close-on-exec flag is cleared. */
        if (c->spec->channel_fd > 2 && (c->spec->channel_fd == CHANNEL_FD ? fcntl(CHANNEL_FD, F_SETFD, 0) : dup2(c->spec->channel_fd, CHANNEL_FD)) < 0)
                return -errno;
        if (c->spec->terminal && ioctl(c->spec->terminal_fd, TIOCSCTTY, 0) < 0)
                return -errno;
        return 0;
}

static int spawn_step_rlimits(SpawnChild *c) {
        return c->spec->prepared ? rlimits_apply_own(&c->spec->rlimits) : rlimits_apply(&c->spec->rlimits);
}

static int spawn_step_bounding(SpawnChild *c) {
        uint64_t have = c->spec->bounding ? c->spec->bounding : caps_init();

        return c->spec->prepared ? 0 : caps_drop_bounding(have, c->spec->capabilities);
}

static int spawn_step_ids(SpawnChild *c) {
        /* Raw calls: the C library's would look for threads of the process that this memory belongs to. */
        if (!c->spec->single_id) {
                if (!c->spec->prepared && syscall(SYS_setgroups, 0, NULL) < 0)
                        return -errno;
                if (syscall(SYS_setresgid, c->spec->gid, c->spec->gid, c->spec->gid) < 0)
                        return -errno;
                if (syscall(SYS_setresuid, c->spec->uid, c->spec->uid, c->spec->uid) < 0)
                        return -errno;
        }
        return 0;
}

static int spawn_step_capabilities(SpawnChild *c) {
        return caps_set(c->spec->capabilities);
}

static int spawn_step_workdir(SpawnChild *c) {
        (void) umask(022);
        if (chdir(c->spec->workdir) < 0) {
                c->failure.detail = c->spec->workdir;
                return -errno;
        }
        return 0;
}

static int spawn_step_seccomp(SpawnChild *c) {
        int r = c->spec->seccomp ? seccomp_load(c->spec->seccomp_flags) : 0;

        return r >= 0 && c->spec->no_processes ? seccomp_load_no_processes() : r;
}

/* As a shell does: executes the first file on the path that can be executed. An error other than a missing file is
 * reported if none can. */
static int spawn_step_exec(SpawnChild *c) {
        const char *name = c->spec->argv[0], *path = c->spec->path;
        int error = ENOENT;

        c->failure.detail = name;
        if (strchr(name, '/')) {
                (void) execve(name, c->spec->argv, c->spec->envp);
                return -errno;
        }
        while (*path) {
                size_t n = strcspn(path, ":");
                char full[4096];

                if ((size_t) snprintf(full, sizeof(full), "%.*s/%s", (int) n, path, name) < sizeof(full)) {
                        (void) execve(full, c->spec->argv, c->spec->envp);
                        if (errno != ENOENT && errno != ENOTDIR)
                                error = errno;
                }
                path += n + (path[n] == ':');
        }
        return -error;
}

static const struct {
        const char *name;
        int (*function)(SpawnChild *c);
} steps[] = {
        { "signals",      spawn_step_signals      },
        { "session",      step_session      },
        { "stdio",        step_stdio        }, /* after setsid: only a session leader gets a terminal */
        { "rlimits",      spawn_step_rlimits      },
        { "bounding-set", spawn_step_bounding     }, /* needs CAP_SETPCAP */
        { "ids",          spawn_step_ids          }, /* from here on we are the guest's user */
        { "capabilities", spawn_step_capabilities },
        { "workdir",      spawn_step_workdir      }, /* as the user: a directory closed to it is an error */
        { "seccomp",      spawn_step_seccomp      }, /* last: it forbids what the steps above used */
        { "exec",         spawn_step_exec         },
};

static int take_steps(SpawnChild *c, size_t n) {
        for (size_t i = 0; i < n; i++) {
                int r = steps[i].function(c);
                if (r < 0) {
                        c->failure.step = steps[i].name;
                        c->failure.error = -r;
                        return r;
                }
        }
        return 0;
}

static int child_main(void *arg) {
        (void) take_steps(arg, ELEMENTSOF(steps));
        _exit(127);
}

int spawn_confine(const SpawnSpec *spec, SpawnFailure *ret_failure) {
        SpawnChild c = { .spec = spec };
        int r = take_steps(&c, ELEMENTSOF(steps) - 1);

        if (r < 0)
                *ret_failure = c.failure;
        return r;
}

pid_t spawn(const SpawnSpec *spec, SpawnFailure *ret_failure) {
        static _Alignas(16) char stack[SPAWN_STACK_SIZE]; /* used by one child at a time, until it execs */
        SpawnChild child = { .spec = spec };
        pid_t pid;

        pid = clone(child_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
        if (pid < 0) {
                *ret_failure = (SpawnFailure) { .step = "fork", .error = errno };
                return -errno;
        }
        if (child.failure.error != 0) {
                (void) waitpid(pid, NULL, 0);
                *ret_failure = child.failure;
                return -child.failure.error;
        }
        return pid;
}
