/* zygote-start.c: starts a process that becomes an interpreter: a list of steps, each of which gives up a right.
 *
 * The process stays in the host's user and pid namespaces: only from there can it enter those of sandboxes. It has no
 * /proc, so it cannot see the host's processes. */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/program.h"
#include "base/title.h"
#include "confine/caps.h"
#include "confine/rlimits.h"
#include "confine/seccomp.h"
#include "jail/ids.h"
#include "spawner/zygote-internal.h"
#include "wire/channel.h"

#define LIBRARY      "cove-zygote.so"
#define MEMORY_MAX   (UINT64_C(4) << 30)
#define PIDS_MAX     256
#define DISK_UNUSED  (UINT64_C(1) << 20)
#define CAPABILITIES (CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID))

/* The programs of interpreters, and the code that they start with; the rest is in the library. */
static const struct {
        const char *language, *program, *code;
} interpreters[] = {
        { "python", "/usr/bin/python3",
          "import ctypes as c,sys;l=c.PyDLL('" ZYGOTE_DIRECTORY "/" ZYGOTE_LIBRARY "');t=lambda n:c.string_at(c.addressof(c.c_char.in_dll(l,'cove_zygote_'+n)));"
          "exec(compile(t('script'),'<cove>','exec'),{'__name__':'cove_zygote','library':l,'ctypes':c,'source':t('driver'),'names':sys.argv[1:]})" },
};

/* A single thread, and no variable of our own environment. */
static char *const environment[] = {
        (char *) "PATH=/usr/local/bin:/usr/bin:/bin", (char *) "HOME=/tmp", (char *) "LANG=C.UTF-8", (char *) "OPENBLAS_NUM_THREADS=1",
        (char *) "OMP_NUM_THREADS=1", (char *) "MKL_NUM_THREADS=1", (char *) "NUMEXPR_NUM_THREADS=1", (char *) "MPLBACKEND=Agg",
        (char *) "MPLCONFIGDIR=/tmp/matplotlib", NULL,
};

typedef struct Beginning {
        const Spawner *s;
        const ZygoteLine *line;
        const Cgroup *cgroup;
        const char *directory; /* of the template; NULL: the host's */
        char *library;
        int socket_fd;
        IdRange ids; /* it has the first one */
        Error error;
} Beginning;

static int step_bind(Beginning *b) {
        return prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || setsid() < 0 ? -errno : 0;
}

static int step_group(Beginning *b) {
        int fds[_CGROUP_CONTROLLER_MAX];
        char path[CGROUP_PATH_MAX + 16];

        if (b->cgroup->version == CGROUP_V2) {
                (void) snprintf(path, sizeof(path), "%s/cgroup.procs", b->cgroup->dirs[0].path);
                return file_write(AT_FDCWD, path, "0");
        }
        return cgroup_enter(fds, cgroup_enter_fds(b->cgroup, fds));
}

/* Its children are guests, which the kernel may kill; and a zygote can be started again. */
static int step_oom(Beginning *b) {
        return file_write(AT_FDCWD, "/proc/self/oom_score_adj", "0");
}

static int step_namespaces(Beginning *b) {
        if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) < 0)
                return -errno;
        return sethostname("zygote", strlen("zygote")) < 0 ? -errno : 0;
}

static int step_root(Beginning *b) {
        return zygote_take_root(b->directory, b->library, &b->error);
}

static int step_keyring(Beginning *b) {
        return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS ? -errno : 0;
}

static int step_limits(Beginning *b) {
        return rlimits_apply_common();
}

/* Keeps 0–2, for error messages, its socket, and the descriptor that holds its id. */
static int zygote_start_step_descriptors(Beginning *b) {
        int socket = fcntl(b->socket_fd, F_DUPFD_CLOEXEC, 16), holder = fcntl(b->ids.lock_fd, F_DUPFD_CLOEXEC, 16);

        if (socket < 0 || holder < 0 || dup2(socket, ZYGOTE_SOCKET_FD) < 0 || dup2(holder, ZYGOTE_SOCKET_FD + 1) < 0)
                return -errno;
        return kernel_close_range(ZYGOTE_SOCKET_FD + 2, ~0u, 0) < 0 ? -errno : 0;
}

static int zygote_start_step_signals(Beginning *b) {
        sigset_t none;

        for (int signal_number = 1; signal_number < _NSIG; signal_number++)
                (void) sigaction(signal_number, &(struct sigaction) { .sa_handler = SIG_DFL }, NULL);
        (void) sigemptyset(&none);
        (void) umask(022);
        return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

static int zygote_start_step_ids(Beginning *b) {
        int r = caps_drop_bounding(CAPS_ALL, CAPABILITIES);

        if (r < 0)
                return r;
        if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 || syscall(SYS_setresgid, b->ids.base, b->ids.base, b->ids.base) < 0 ||
                        syscall(SYS_setresuid, b->ids.base, b->ids.base, b->ids.base) < 0)
                return -errno;
        return caps_set_kept(CAPABILITIES);
}

/* The change of ids has cleared its parent-death signal. */
static int step_privileges(Beginning *b) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
                return -errno;
        return 0;
}

static int step_filter(Beginning *b) {
        return seccomp_load_zygote();
}

static int zygote_start_step_exec(Beginning *b) {
        char *argv[ZYGOTE_IMPORTS_MAX + 8], *imports = strdup(b->line->imports), *save = NULL;
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(interpreters); i++) {
                if (strcmp(interpreters[i].language, b->line->language) != 0)
                        continue;
                argv[n++] = (char *) interpreters[i].program;
                argv[n++] = (char *) "-u";
                argv[n++] = (char *) "-c";
                argv[n++] = (char *) interpreters[i].code;
        }
        for (char *name = imports ? strtok_r(imports, ",", &save) : NULL; name && n < ELEMENTSOF(argv) - 1; name = strtok_r(NULL, ",", &save))
                argv[n++] = name;
        argv[n] = NULL;
        if (!argv[0])
                return -ENOENT;
        (void) execve(argv[0], argv, environment);
        return -errno;
}

static const struct {
        const char *name;
        int (*function)(Beginning *b);
} steps[] = {
        { "session",     step_bind        },
        { "cgroup",      step_group       },
        { "oom-score",   step_oom         },
        { "namespaces",  step_namespaces  },
        { "root",        step_root        }, /* from here on it sees the template's files only */
        { "keyring",     step_keyring     },
        { "rlimits",     step_limits      }, /* as for guests: a limit that is lower here is lower there */
        { "descriptors", zygote_start_step_descriptors },
        { "signals",     zygote_start_step_signals     },
        { "ids",         zygote_start_step_ids         }, /* no real user, but with the right to become a sandbox's user */
        { "privileges",  step_privileges  },
        { "seccomp",     step_filter      }, /* restricts the ids that it may become */
        { "exec",        zygote_start_step_exec        },
};

static _noreturn_ void begin_main(Beginning *b) {
        title_set("cove-zygote");
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                int r = steps[i].function(b);

                if (r >= 0)
                        continue;
                if (b->error.code == 0)
                        (void) error_set(&b->error, r, "%m");
                log_error("zygote %s/%s: %s: %s", b->line->template_name, b->line->language, steps[i].name, b->error.text);
                break;
        }
        _exit(1);
}

static void group_name(size_t number, char ret[static 32]) {
        (void) snprintf(ret, 32, "zygote-%zu", number); /* not a sandbox's id, so it is in no listing */
}

static int make_group(const Spawner *s, size_t number, Cgroup *ret, Error *reterr) {
        const JailLimits limits = { .memory_bytes = MEMORY_MAX, .pids = PIDS_MAX, .disk_bytes = DISK_UNUSED };
        GuardSet missing = 0;
        char name[32];
        int r;

        group_name(number, name);
        r = cgroup_plan_lasting(s->options->instance, name, ret, reterr);
        return r < 0 ? r : cgroup_make(ret, &limits, &missing, reterr);
}

void zygote_remove_group(const Spawner *s, size_t number, usec_t patience) {
        Cgroup cg = CGROUP_EMPTY;
        char name[32];

        group_name(number, name);
        if (cgroup_plan_lasting(s->options->instance, name, &cg, /* reterr= */ NULL) >= 0)
                (void) cgroup_remove(&cg, patience);
}

static int zygote_start_prepare(Beginning *b, size_t number, Cgroup *cg, int *ret_fds, Error *reterr) {
        int r = program_path(LIBRARY, &b->library);

        if (r < 0)
                return error_set(reterr, r, "cannot find " LIBRARY ": is the installation complete?");
        r = id_range_claim_apart(&b->s->ranges, &b->ids, reterr);
        if (r >= 0)
                r = make_group(b->s, number, cg, reterr);
        if (r < 0)
                return r;
        r = channel_pair(ret_fds);
        return r < 0 ? error_set(reterr, r, "cannot make a channel: %m") : 0;
}

int zygote_start(const Spawner *s, const ZygoteLine *line, size_t number, Cgroup *cg, pid_t *ret_pid, int *ret_fd, Error *reterr) {
        Beginning b = {
                .s = s,
                .line = line,
                .cgroup = cg,
                .directory = template_find(&s->options->templates, line->template_name)->directory,
                .ids = ID_RANGE_EMPTY,
        };
        pid_t worker = getpid(), pid = -1;
        int fds[2] = { -EBADF, -EBADF }, r;

        r = zygote_start_prepare(&b, number, cg, fds, reterr);
        if (r >= 0) {
                b.socket_fd = fds[1];
                pid = fork();
                if (pid == 0) {
                        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != worker)
                                _exit(1);
                        begin_main(&b);
                }
                r = pid < 0 ? error_set(reterr, -errno, "cannot fork: %m") : 0;
        }
        cgroup_close(cg);
        id_range_release(&b.ids);
        (void) fd_close(fds[1]);
        free(b.library);
        if (r < 0) {
                (void) fd_close(fds[0]);
                return r;
        }
        *ret_pid = pid;
        *ret_fd = fds[0];
        return 0;
}
