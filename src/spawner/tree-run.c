/* tree-run.c: cove-tree, in namespaces of its own.
 *
 *      us                     clone3 into namespaces · id map · map the trees' ids · "go" · wait for its end
 *      cove-tree              waits · root of its user namespace · limits · descriptors 0 to 6 and no other · exec */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "jail/disk.h"
#include "jail/ids.h"
#include "jail/tree.h"
#include "jail/userns.h"
#include "spawner/tree-job.h"

#define ARGV_MAX   260
#define FD_TREES   4
#define FD_PROGRAM (FD_TREES + TREE_REFS_MAX)
#define FD_ASIDE   32 /* where descriptors are moved while the low ones are arranged */
#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWUTS)

typedef struct SpawnerTreeRun {
        const Spawner *s;
        const TreeJob *job;
        int trees[TREE_REFS_MAX];
        bool whole[TREE_REFS_MAX]; /* the tree has several mounts */
} SpawnerTreeRun;

static const struct {
        int resource;
        rlim_t value;
} limits[] = {
        { RLIMIT_AS,     UINT64_C(2) << 30 },
        { RLIMIT_CORE,   0                 },
        { RLIMIT_NOFILE, 4096              },
        { RLIMIT_NPROC,  64                },
};

static void run_done(SpawnerTreeRun *run) {
        for (size_t i = 0; i < TREE_REFS_MAX; i++)
                (void) fd_close(run->trees[i]);
}

static int open_template(const SpawnerTreeRun *run, const TreeRef *ref, Error *reterr) {
        const char *directory = template_find(&run->s->options->templates, ref->name)->directory;
        int tree = directory ? tree_clone(AT_FDCWD, directory, /* recursive= */ false) : tree_host_open(reterr);

        return tree < 0 && directory ? error_set(reterr, tree, "template %s: %m", ref->name) : tree;
}

static int open_kept(const SpawnerTreeRun *run, const TreeRef *ref, Error *reterr) {
        _cleanup_close_ int fd = depot_open_tree(&run->s->depot, ref, reterr);

        return fd < 0 ? fd : disk_open_tree(fd, ref->name, reterr);
}

/* The host's tree is opened last: that leaves the mount namespace in which the others are found. */
static int open_trees(SpawnerTreeRun *run, Error *reterr) {
        const TreeRequest *t = &run->job->request;

        for (int templates = 0; templates < 2; templates++)
                for (size_t i = 0; i < t->n_refs; i++) {
                        bool is_template = t->refs[i].kind == TREE_TEMPLATE;

                        if (is_template != (templates == 1))
                                continue;
                        run->whole[i] = is_template && !template_find(&run->s->options->templates, t->refs[i].name)->directory;
                        run->trees[i] = is_template ? open_template(run, t->refs + i, reterr) : open_kept(run, t->refs + i, reterr);
                        if (run->trees[i] < 0)
                                return run->trees[i];
                }
        return 0;
}

/* A template's file system may not support id maps; its files then have no owner, which does no harm to a reader. */
static int restrict_trees(const SpawnerTreeRun *run, int userns, Error *reterr) {
        const TreeRequest *t = &run->job->request;

        for (size_t i = 0; i < t->n_refs; i++) {
                uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | (t->refs[i].writable ? 0 : MOUNT_ATTR_RDONLY);
                int r = tree_restrict(run->trees[i], attributes, userns, run->whole[i]);

                if (r == -EINVAL && t->refs[i].kind == TREE_TEMPLATE)
                        r = tree_restrict(run->trees[i], attributes, -EBADF, run->whole[i]);
                if (r < 0)
                        return error_set(reterr, r, "cannot restrict tree %s: %m", t->refs[i].name);
        }
        return 0;
}

/* From here on: in the new process. Errors go only to its descriptor 2, in the format of cove-tree itself. */
static _noreturn_ void tree_run_give_up(const char *what) {
        int r = errno;

        (void) dprintf(STDERR_FILENO, "%d cannot start cove-tree: %s: %s\n", r, what, strerror(r));
        _exit(1);
}

static void sort_descriptors(const SpawnerTreeRun *run) {
        const TreeRequest *t = &run->job->request;
        int aside[FD_PROGRAM + 1], n = 0;

        for (size_t i = 0; i < TREE_RUN_FDS; i++)
                aside[n++] = fcntl(run->job->fds[i], F_DUPFD, FD_ASIDE);
        for (size_t i = 0; i < TREE_REFS_MAX; i++)
                aside[n++] = i < t->n_refs ? fcntl(run->trees[i], F_DUPFD, FD_ASIDE) : -EBADF;
        aside[n++] = fcntl(run->s->tree_program_fd, F_DUPFD, FD_ASIDE);
        for (int i = 0; i < n; i++) {
                (void) close(i);
                if (aside[i] >= 0 && dup2(aside[i], i) < 0)
                        tree_run_give_up("descriptors");
        }
        if (kernel_close_range(FD_PROGRAM + 1, ~0u, 0) < 0 || fcntl(FD_PROGRAM, F_SETFD, FD_CLOEXEC) < 0)
                tree_run_give_up("descriptors");
}

static void reset_signals(void) {
        sigset_t none;

        for (int i = 1; i < NSIG; i++)
                (void) signal(i, SIG_DFL);
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_limits(void) {
        for (size_t i = 0; i < ELEMENTSOF(limits); i++)
                if (setrlimit(limits[i].resource, &(struct rlimit) { limits[i].value, limits[i].value }) < 0)
                        tree_run_give_up("limits");
        (void) setpriority(PRIO_PROCESS, 0, 5);
}

/* Our parent may have died before our request to die with it took effect: then no process holds the other end. */
static void tree_run_await(int go_fd) {
        struct pollfd end = { .fd = go_fd };
        char byte;

        if (read(go_fd, &byte, 1) != 1)
                _exit(1);
        if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
                tree_run_give_up("ids");
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || poll(&end, 1, 0) < 0 || (end.revents & POLLHUP))
                _exit(1);
}

static _noreturn_ void inside(const SpawnerTreeRun *run, int go_fd) {
        static char *const environment[] = { (char *) "LC_ALL=C.UTF-8", (char *) "TZ=UTC0", NULL };
        const TreeRequest *t = &run->job->request;
        const char *argv[ARGV_MAX] = { "cove-tree" };
        size_t n = 1;

        tree_run_await(go_fd);
        set_limits();
        reset_signals();
        for (const char *p = t->arguments; p < t->arguments + t->arguments_size && n < ARGV_MAX - 1; p += strlen(p) + 1)
                argv[n++] = p;
        sort_descriptors(run);
        if (chdir("/") < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                tree_run_give_up("/");
        (void) syscall(SYS_execveat, FD_PROGRAM, "", argv, environment, AT_EMPTY_PATH);
        tree_run_give_up("exec");
}

static int map_and_go(const SpawnerTreeRun *run, pid_t pid, uid_t base, int go_fd, Error *reterr) {
        const IdMap map = { .outside_uid = base, .outside_gid = base, .count = ID_RANGE_SIZE };
        _cleanup_close_ int userns = -EBADF;
        int r = userns_write_maps(pid, &map);

        if (r < 0)
                return error_set(reterr, r, "cannot map user ids: %m");
        userns = userns_open(pid);
        if (userns < 0)
                return error_set(reterr, userns, "cannot open the user namespace: %m");
        r = restrict_trees(run, userns, reterr);
        if (r < 0)
                return r;
        return write(go_fd, "g", 1) == 1 ? 0 : error_set(reterr, -EPIPE, "cove-tree died before it began");
}

static int start_and_await(const SpawnerTreeRun *run, uid_t base, int *ret_status, Error *reterr) {
        struct clone_args args = { .flags = NAMESPACES, .exit_signal = SIGCHLD };
        _cleanup_close_ int go_read = -EBADF, go_write = -EBADF;
        int go[2], r;
        pid_t pid;

        if (pipe2(go, O_CLOEXEC) < 0)
                return error_set(reterr, -errno, "cannot make a pipe: %m");
        go_read = go[0];
        go_write = go[1];
        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid < 0)
                return error_set(reterr, -errno, "cannot make namespaces for cove-tree: %m");
        if (pid == 0) {
                (void) close(go_write);
                inside(run, go_read);
        }
        r = map_and_go(run, pid, base, go_write, reterr);
        if (r < 0)
                (void) kill(pid, SIGKILL);
        while (waitpid(pid, ret_status, 0) < 0)
                if (errno != EINTR)
                        return error_set(reterr, -errno, "cove-tree cannot be waited for: %m");
        return r;
}

int tree_job_run(const Spawner *s, const TreeJob *job, int *ret_status, Error *reterr) {
        _cleanup_(run_done) SpawnerTreeRun run = { .s = s, .job = job, .trees = { -EBADF, -EBADF, -EBADF } };
        IdRange ids = ID_RANGE_EMPTY;
        int r;

        if (s->tree_program_fd < 0)
                return error_set(reterr, -ENOENT, "cannot find cove-tree beside cove-spawner: is the installation complete?");
        (void) file_write(AT_FDCWD, "/proc/self/oom_score_adj", "500"); /* inherited by cove-tree, which is killed first when memory is short */
        r = id_range_claim_apart(&s->ranges, &ids, reterr);
        if (r >= 0)
                r = open_trees(&run, reterr);
        if (r >= 0)
                r = start_and_await(&run, ids.base, ret_status, reterr);
        id_range_release(&ids);
        return r;
}
