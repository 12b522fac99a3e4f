#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRATCH_CGROUPS  "/sys/fs/cgroup"
#define SCRATCH_WALK_FDS 16

static volatile pid_t forward_to = 0;

static void on_signal(int signal_number) {
        int saved = errno;

        if (forward_to > 0)
                (void) kill(forward_to, signal_number);
        errno = saved;
}

/* On Ctrl-C all three get the signal from the terminal, and the body once more from us: it only raises a flag. */
static void forward_signals(void) {
        static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP };
        const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

        for (size_t i = 0; i < ELEMENTSOF(forwarded); i++)
                (void) sigaction(forwarded[i], &action, /* oldact= */ NULL);
}

/* Reaps everything until this one child ends; its exit status as a shell would tell it. */
static int await(pid_t child) {
        for (;;) {
                int status;
                pid_t pid = waitpid(-1, &status, /* options= */ 0);

                if (pid < 0 && errno != EINTR)
                        return -errno;
                if (pid == child)
                        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
}

/* PID 1 of the new namespaces; everything else is still the host's. */
static int reaper_enter(void) {
        /* Slave, not private: where the host's mounts are shared, as most are, the subjects still pay for that. */
        if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
                return -errno;
        if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
                return -errno;
        return 0;
}

static _noreturn_ void reaper_run(int (*body)(const Scratch *scratch, void *userdata),
                const Scratch *scratch, void *userdata) {
        pid_t pid;
        int r;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getpid() == 1) {
                r = reaper_enter();
                if (r < 0) {
                        (void) dprintf(STDERR_FILENO, "cove-bench: private mounts: %s\n", strerror(-r));
                        _exit(EXIT_FAILURE);
                }
        }

        pid = fork();
        if (pid < 0)
                _exit(EXIT_FAILURE);
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                exit(body(scratch, userdata));
        }
        forward_to = pid;
        r = await(pid);
        _exit(r < 0 ? EXIT_FAILURE : r);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where) {
        (void) remove(path); /* what cannot go makes the directory above it stay, and that is reported */
        return 0;
}

static const char *cgroup_tag; /* nftw passes nothing on to its callback */

/* Below our tag, in whatever cgroup the subjects made it. Only directories can be removed, and their files go with
 * them. */
static int remove_cgroup(const char *path, const struct stat *st, int type, struct FTW *where) {
        const char *tagged = strstr(path, cgroup_tag);

        /* What follows the tag is a slash, a dash or the end, which strchr() finds too. */
        if (type == FTW_DP && tagged && tagged[-1] == '/' && strchr("/-", tagged[strlen(cgroup_tag)]))
                (void) rmdir(path);
        return 0;
}

static int scratch_make(Scratch *s, Error *reterr) {
        (void) snprintf(s->tag, sizeof(s->tag), "cove-bench-%d", getpid());
        (void) snprintf(s->dir, sizeof(s->dir), "/tmp/%s.XXXXXX", s->tag);
        if (!mkdtemp(s->dir) || chmod(s->dir, 0711) < 0)
                return error_set(reterr, -errno, "scratch directory '%s': %m", s->dir);
        return 0;
}

static void scratch_remove(const Scratch *s) {
        cgroup_tag = s->tag;
        (void) nftw(SCRATCH_CGROUPS, remove_cgroup, SCRATCH_WALK_FDS, FTW_DEPTH | FTW_PHYS);
        (void) nftw(s->dir, remove_entry, SCRATCH_WALK_FDS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        if (access(s->dir, F_OK) == 0)
                (void) dprintf(STDERR_FILENO, "cove-bench: could not remove all of %s\n", s->dir);
}

void scratch_guard_or_die(void) {
        pid_t pid;
        int r;

        forward_signals();
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
                return;
        }
        forward_to = pid;
        r = pid < 0 ? -errno : await(pid);
        _exit(r < 0 ? EXIT_FAILURE : r);
}

int scratch_run(int (*body)(const Scratch *scratch, void *userdata), void *userdata, Error *reterr) {
        struct clone_args args = {
                .flags = geteuid() == 0 ? CLONE_NEWPID | CLONE_NEWNS : 0,
                .exit_signal = SIGCHLD,
        };
        Scratch scratch;
        pid_t pid;
        int r;

        r = scratch_make(&scratch, reterr);
        if (r < 0)
                return r;

        forward_signals(); /* before the first child: at no moment may we die and it stay */
        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid == 0)
                reaper_run(body, &scratch, userdata);
        if (pid < 0)
                r = error_set(reterr, -errno, "private pid and mount namespace: %m");
        else {
                forward_to = pid;
                r = await(pid);
        }
        scratch_remove(&scratch);
        return r;
}
