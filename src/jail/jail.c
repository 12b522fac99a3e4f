#include "jail/jail.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "confine/landlock.h"
#include "confine/seccomp.h"
#include "jail/ids.h"
#include "jail/net.h"
#include "jail/userns.h"
#include "wire/channel.h"

#define REMOVE_PATIENCE (10 * USEC_PER_SEC)
#define SPIN_USEC       500

/* Namespaces made by clone. The network namespace is made separately (net.h); the cgroup namespace is made inside,
 * after the process has entered its group. */
static const struct {
        Guard guard;
        uint64_t flag;
} namespaces[] = {
        { GUARD_USERNS,  CLONE_NEWUSER },
        { GUARD_PIDNS,   CLONE_NEWPID  },
        { GUARD_MOUNTNS, CLONE_NEWNS   },
        { GUARD_IPCNS,   CLONE_NEWIPC  },
        { GUARD_UTSNS,   CLONE_NEWUTS  },
        { GUARD_TIMENS,  CLONE_NEWTIME },
};

static int missing_before_start(const JailSpec *spec, bool privileged, GuardSet *ret, Error *reterr) {
        GuardSet missing = 0;
        int r;

        if (!privileged)
                missing |= GUARD_BIT(GUARD_ID_RANGE) | GUARD_BIT(GUARD_IDMAP);
        if (spec->net_host)
                missing |= GUARD_BIT(GUARD_NETNS);
        if (spec->keep_dir)
                missing |= GUARD_BIT(GUARD_DISK);
        r = landlock_probe();
        if (r == -EOPNOTSUPP) /* only a kernel without Landlock may lack this guard; any other failure is an error */
                missing |= GUARD_BIT(GUARD_LANDLOCK);
        else if (r < 0)
                return error_set(reterr, r, "cannot ask the kernel for Landlock: %m");
        *ret = missing;
        return 0;
}

static int check_seccomp(const JailSpec *spec, GuardSet *missing, Error *reterr) {
        int r = seccomp_probe();

        if (r >= 0)
                return 0;
        if (!(spec->allow_missing & GUARD_BIT(GUARD_SECCOMP)))
                return error_set(reterr, r, "this kernel has no seccomp filters: %m");
        *missing |= GUARD_BIT(GUARD_SECCOMP);
        return 0;
}

/* Without privilege, a lack of rights to cgroups is normal: rlimits take over and the report says so. Root gets
 * an error. */
static bool cgroup_failure_is_normal(int r, bool privileged) {
        return !privileged && (r == -EACCES || r == -EPERM || r == -EROFS || r == -EOPNOTSUPP || r == -EBUSY ||
                                              r == -ENOENT || r == -EINVAL);
}

static const char *first_guard(GuardSet set) {
        for (Guard g = 0; g < _GUARD_MAX; g++)
                if (set & GUARD_BIT(g))
                        return guard_name(g);
        return "";
}

static int make_cgroup(Jail *j, const JailSpec *spec, GuardSet *ret_missing, Error *reterr) {
        int r;

        if (spec->detached) {
                r = cgroup_plan_lasting(spec->instance, spec->id, &j->cgroup, reterr);
                return r < 0 ? r : cgroup_make(&j->cgroup, &spec->limits, ret_missing, reterr);
        }

        r = cgroup_plan(spec->id, &j->cgroup, reterr);
        if (r < 0)
                return r;
        r = warden_start(&j->cgroup, &j->warden);
        if (r < 0)
                return error_set(reterr, r, "cannot start the warden: %m");
        j->cgroup.companion = j->warden.pid;
        r = cgroup_make(&j->cgroup, &spec->limits, ret_missing, reterr);
        if (r >= 0)
                warden_update(&j->cgroup);
        return r;
}

static int start_cgroup(Jail *j, const JailSpec *spec, bool privileged, Error *reterr) {
        GuardSet missing = 0, refused;
        int r;

        r = make_cgroup(j, spec, &missing, reterr);
        if (r == -EEXIST && spec->detached)
                return r;
        if (r < 0) {
                bool allowed = (spec->allow_missing & GUARDS_OF_CGROUP) == GUARDS_OF_CGROUP;

                if (!allowed && !cgroup_failure_is_normal(r, privileged))
                        return r;
                log_debug("no cgroup: %s", reterr->text);
                warden_dismiss(&j->warden);
                cgroup_close(&j->cgroup);
                j->cgroup = (Cgroup) CGROUP_EMPTY;
                missing = GUARDS_OF_CGROUP;
        }
        j->missing |= missing;

        refused = missing & ~spec->allow_missing;
        if (privileged && refused)
                return error_set(reterr, -EOPNOTSUPP,
                                "this host has no %s controller in its cgroups: see `cove doctor`, or leave it out with "
                                "`cove %s --allow-missing %s`",
                                first_guard(refused), spec->detached ? "serve" : "run", first_guard(refused));
        if ((refused & GUARD_BIT(GUARD_CPU)) && spec->limits.cpu_milli > 0)
                return error_set(reterr, -EOPNOTSUPP,
                                "%s needs a cgroup with the cpu controller: see `cove doctor`, or leave it out with "
                                "`cove %s --allow-missing cpu`", spec->detached ? "cpuCores (--cpus)" : "--cpus", spec->detached ? "serve" : "run");
        return 0;
}

static int explain_clone(int r, Error *reterr) {
        switch (-r) {
        case EPERM:
        case EACCES:
                return error_set(reterr, r, "user namespaces are closed to this user: see `cove doctor`");
        case ENOSPC: return error_set(reterr, r, "no more namespaces: see sysctl user.max_user_namespaces");
        case EAGAIN: return error_set(reterr, r, "no more processes: see ulimit -u and the pids cgroup");
        case EINVAL: return error_set(reterr, r, "this kernel lacks a namespace type: see `cove doctor`");
        default: return error_set(reterr, r, "cannot clone: %m");
        }
}

/* The kernel charges the use of a user namespace (inotify instances, pending signals, …) to its maker. The
 * maker must not be root, whose share one guest could use up, but an id of the sandbox. Files are still opened
 * as root: clone3 checks the right to the cgroup. The owner has all rights in the namespace from outside, and
 * only from there. The only process on the host with ids of a sandbox is a zygote's child on its way in, which
 * then is the sandbox's user already. */
static int jail_become_owner(uid_t owner) {
        if (owner != 0 && syscall(SYS_setresuid, -1, owner, -1) < 0)
                return -errno;
        (void) syscall(SYS_setfsuid, 0);
        return 0;
}

static void become_root_again(uid_t owner) {
        while (owner != 0 && syscall(SYS_setresuid, -1, 0, -1) < 0)
                error_outwait(-errno);
}

static void jail_go_home(int netns_fd) {
        int r;

        while ((r = net_enter(netns_fd)) < 0)
                error_outwait(r);
}

static bool has_netns_ahead(const JailSpec *spec) {
        return spec->detached && spec->network.netns_fd >= 0;
}

static pid_t clone_as_owner(Jail *j, const JailSpec *spec, const struct clone_args *args) {
        uid_t owner = j->id_base != 0 && spec->enterable ? j->id_base + spec->uid : j->id_base;
        pid_t pid;
        int r;

        r = jail_become_owner(owner);
        if (r < 0)
                return r;
        pid = (pid_t) syscall(SYS_clone3, args, sizeof(*args));
        if (pid < 0)
                pid = -errno;
        if (pid != 0)
                become_root_again(owner); /* the saved id is root */
        return pid;
}

static pid_t clone_from_empty(Jail *j, const JailSpec *spec, const struct clone_args *args) {
        pid_t pid;
        int r;

        if (!jail_starts_empty(spec))
                return clone_as_owner(j, spec, args);
        r = emptyns_enter(spec->emptyns);
        if (r < 0)
                return r;
        pid = clone_as_owner(j, spec, args);
        if (pid != 0)
                emptyns_leave(spec->emptyns);
        return pid;
}

static pid_t clone_into(Jail *j, const JailSpec *spec) {
        int cgroup_fd = cgroup_clone_fd(&j->cgroup);
        struct clone_args args = {
                .flags = CLONE_PIDFD,
                .pidfd = (uint64_t) (uintptr_t) &j->pidfd,
                .exit_signal = SIGCHLD,
        };
        pid_t pid;
        int r;

        if (j->cgroup.version == CGROUP_V2) {
                args.flags |= CLONE_INTO_CGROUP;
                args.cgroup = (uint64_t) cgroup_fd;
        }
        for (size_t i = 0; i < ELEMENTSOF(namespaces); i++)
                if (!(j->missing & GUARD_BIT(namespaces[i].guard)))
                        args.flags |= namespaces[i].flag;

        if (has_netns_ahead(spec)) {
                r = net_enter(spec->network.netns_fd);
                if (r < 0)
                        return r;
        }
        pid = clone_from_empty(j, spec, &args);
        if (pid != 0 && has_netns_ahead(spec))
                jail_go_home(spec->home_netns_fd);
        return pid;
}

/* A namespace type that the kernel does not know is left out if the caller named it. */
static pid_t clone_jail(Jail *j, const JailSpec *spec, Error *reterr) {
        pid_t pid = clone_into(j, spec);

        for (size_t i = 0; i < ELEMENTSOF(namespaces) && pid == -EINVAL; i++) {
                if (!(spec->allow_missing & GUARD_BIT(namespaces[i].guard)))
                        continue;
                j->missing |= GUARD_BIT(namespaces[i].guard);
                pid = clone_into(j, spec);
        }
        if (pid < 0)
                return explain_clone(pid, reterr);
        return pid;
}

/* The new process can be inspected while it waits for its ids; later only root could. */
static int map_ids(Jail *j, const JailSpec *spec, Rootfs *fs, bool privileged, int *ret_userns_fd, Error *reterr) {
        _cleanup_close_ int userns = -EBADF;
        IdMap map = {
                .inside_uid = privileged ? 0 : spec->uid,
                .outside_uid = privileged ? j->id_base : geteuid(),
                .inside_gid = privileged ? 0 : spec->gid,
                .outside_gid = privileged ? j->id_base : getegid(),
                .count = privileged ? ID_RANGE_SIZE : 1,
                .single = !privileged,
        };
        bool idmap_failed = false;
        int r;

        r = userns_write_maps(j->pid, &map);
        if (r < 0)
                return error_set(reterr, r, "cannot map user ids: %m (see `cove doctor`)");
        userns = userns_open(j->pid);
        if (userns < 0)
                return error_set(reterr, userns, "cannot open the user namespace: %m");
        if (privileged) {
                r = rootfs_restrict(fs, spec, userns, j->id_base, &idmap_failed, reterr);
                if (r < 0)
                        return r;
        }
        if (idmap_failed) {
                if (!(spec->allow_missing & GUARD_BIT(GUARD_IDMAP)))
                        return error_set(reterr, -EOPNOTSUPP,
                                        "the template's file system does not take id-mapped mounts (an overlay, as in a "
                                        "container?); --allow-missing idmap runs without, its files then belong to nobody");
                j->missing |= GUARD_BIT(GUARD_IDMAP);
        }
        *ret_userns_fd = TAKE_FD(userns);
        return 0;
}


void jail_release(Jail *j) {
        cgroup_close(&j->cgroup);
        j->pidfd = fd_close(j->pidfd);
        j->control_fd = fd_close(j->control_fd);
        j->id_holder_fd = fd_close(j->id_holder_fd);
        j->id_name_fd = fd_close(j->id_name_fd);
}

/* Undoes everything, in the middle of a start. For a detached sandbox it does not wait: the caller reaps it by
 * itself. */
static void jail_abort(Jail *j, const JailSpec *spec) {
        int status;

        if (j->pid > 0) {
                (void) jail_kill(j);
                if (!spec->detached)
                        (void) waitpid(j->pid, &status, 0);
                j->pid = 0;
        }
        if (cgroup_remove(&j->cgroup, spec->detached ? 0 : REMOVE_PATIENCE) >= 0)
                warden_dismiss(&j->warden);
        jail_release(j);
}

/* A caller that asks for a way through the gate needs the walls beside it: without a network namespace there is
 * no such sandbox. */
static int make_network(Jail *j, const JailSpec *spec, int userns_fd, Network *ret, Error *reterr) {
        const NetRequest request = { .shape = spec->network.shape, .userns_fd = userns_fd, .open_ports = spec->enterable, .hub_fd = -EBADF, .settings = spec->detached ? spec->settings : NULL };
        int r;

        if ((j->missing & GUARD_BIT(GUARD_NETNS)) || has_netns_ahead(spec))
                return 0;
        r = net_make(&request, ret, reterr);
        if (r >= 0)
                return 0;
        if (request.shape != SPAWN_NETWORK_NONE || !(spec->allow_missing & GUARD_BIT(GUARD_NETNS)))
                return r;
        j->missing |= GUARD_BIT(GUARD_NETNS);
        return 0;
}

static int jail_not_told(int r, Error *reterr) {
        return error_set(reterr, r, error_is_shortage(r) ? "the sandbox cannot be told how to go on: %m" : "the sandbox died while it was set up");
}

/* The sockets of the network go to PID 1 of a detached sandbox. Otherwise spec->attend() has taken them already. */
static int send_outside(Jail *j, const JailSpec *spec, const Network *network, Error *reterr) {
        const WireMessage m = { .type = WIRE_OUTSIDE, .outside.guards_missing = j->missing };
        int fds[1 + NET_SOCKETS_MAX + _CGROUP_CONTROLLER_MAX + 1], r;
        _cleanup_close_ int usage = -EBADF;
        size_t n = 0;

        if (network->netns_fd >= 0)
                fds[n++] = network->netns_fd;
        for (size_t i = 0; i < network->n_fds && spec->detached; i++)
                fds[n++] = network->fds[i];
        n += cgroup_enter_fds(&j->cgroup, fds + n);
        if (spec->detached && !(j->missing & GUARD_BIT(GUARD_MEMORY))) {
                usage = cgroup_open_memory_usage(&j->cgroup);
                if (usage < 0)
                        return error_set(reterr, usage, "cannot open the memory counter of the sandbox's cgroup: %m");
                fds[n++] = usage;
        }
        r = channel_send(j->control_fd, &m, fds, n);
        return r < 0 ? jail_not_told(r, reterr) : 0;
}

static int start_inside(Jail *j, const JailSpec *spec, const int stdio[static 3], Rootfs *fs, bool privileged,
                JailMain main, void *arg, int *ret_userns_fd, Error *reterr) {
        _cleanup_close_ int inside_fd = -EBADF;
        int fds[2], r;
        pid_t pid;

        r = channel_pair(fds);
        if (r < 0)
                return error_set(reterr, r, "cannot make the control channel: %m");
        j->control_fd = fds[0];
        inside_fd = fds[1];

        pid = clone_jail(j, spec, reterr);
        if (pid < 0)
                return pid;
        if (pid == 0) {
                Enter e = {
                        .spec = spec,
                        .fs = fs,
                        .control_fd = inside_fd,
                        .listen_fd = spec->detached ? spec->listen_fd : -EBADF,
                        .holder_fd = spec->detached ? j->id_holder_fd : -EBADF,
                        .name_fd = spec->detached ? j->id_name_fd : -EBADF,
                        .net_fds = { -EBADF, -EBADF, -EBADF },
                        .meminfo_fd = -EBADF,
                        .usage_fd = -EBADF,
                        .anonymous_fd = spec->detached ? spec->anonymous_fd : -EBADF,
                        .stdio = { stdio[0], stdio[1], stdio[2] },
                        .privileged = privileged,
                        .missing = j->missing,
                };
                if (has_netns_ahead(spec))
                        memcpy(e.net_fds, spec->network.fds, sizeof(e.net_fds));
                (void) fd_close(j->control_fd);
                (void) fd_close(j->warden.alive_fd);
                if (jail_starts_empty(spec))
                        fs->host_root_fd = emptyns_keep_root(spec->emptyns);
                enter_run(&e, main, arg);
        }
        j->pid = pid;

        r = map_ids(j, spec, fs, privileged, ret_userns_fd, reterr);
        if (r < 0)
                return r;
        r = channel_send(j->control_fd, &(WireMessage) { .type = WIRE_GO }, NULL, 0);
        return r < 0 ? jail_not_told(r, reterr) : 0;
}

/* With v2 the new process is born in its group. With v1 it moves there itself, so that the groups can be made while it
 * is busy with its mounts. */
static int start_both(Jail *j, const JailSpec *spec, const int stdio[static 3], Rootfs *fs, bool privileged,
                JailMain main, void *arg, Error *reterr) {
        bool cgroup_first = cgroup_detect() != CGROUP_V1;
        _cleanup_close_ int userns = -EBADF;
        _cleanup_(net_done) Network network = NETWORK_EMPTY;
        int r = 0;

        if (cgroup_first)
                r = start_cgroup(j, spec, privileged, reterr);
        if (r >= 0)
                r = start_inside(j, spec, stdio, fs, privileged, main, arg, &userns, reterr);
        if (r >= 0 && !cgroup_first)
                r = start_cgroup(j, spec, privileged, reterr);
        if (r >= 0)
                r = make_network(j, spec, userns, &network, reterr);
        if (r >= 0 && network.n_fds > 0 && !spec->detached && spec->attend)
                r = spec->attend(&network, j->pidfd, arg, reterr);
        return r < 0 ? r : send_outside(j, spec, &network, reterr);
}

/* Lets the guest open /dev/stdout again: the guest may write to an unnamed pipe, or read from it, and not both.
 * The mode gives others nothing, since no path leads them to the pipe. */
static void open_pipes(const int stdio[static 3]) {
        for (int i = 0; i < 3; i++) {
                struct statfs fs;

                if (stdio[i] >= 0 && fstatfs(stdio[i], &fs) == 0 && fs.f_type == PIPEFS_MAGIC)
                        (void) fchmod(stdio[i], i == 0 ? 0644 : 0622);
        }
}

static int jail_claim_ids(Jail *j, const JailSpec *spec, Error *reterr) {
        IdRange range;
        int r = spec->id_ranges ? id_range_claim(spec->id_ranges, &range, reterr) : id_range_claim_apart(/* t= */ NULL, &range, reterr);

        if (r < 0)
                return r;
        j->id_base = range.base;
        j->id_holder_fd = range.lock_fd;
        j->id_name_fd = range.name_fd;
        return 0;
}

int jail_start(const JailSpec *spec, const int stdio[static 3], JailMain main, void *arg, Jail *ret, Error *reterr) {
        Jail j = {
                .pidfd = -EBADF,
                .control_fd = -EBADF,
                .id_holder_fd = -EBADF,
                .id_name_fd = -EBADF,
                .cgroup = CGROUP_EMPTY,
                .warden = WARDEN_EMPTY,
        };
        bool privileged;
        Rootfs fs;
        int r;

        r = userns_is_host_root();
        if (r < 0)
                return error_set(reterr, r, "cannot read /proc/self/uid_map: %m");
        privileged = r;
        r = missing_before_start(spec, privileged, &j.missing, reterr);
        if (r < 0)
                return r;
        r = rootfs_init(&fs, spec, privileged);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        j.disk_backing = fs.backing;

        r = check_seccomp(spec, &j.missing, reterr);
        if (r >= 0 && privileged)
                r = jail_claim_ids(&j, spec, reterr);
        if (r >= 0 && privileged) {
                open_pipes(stdio);
                r = rootfs_open(&fs, spec, j.id_base, reterr);
        }
        if (r >= 0)
                r = start_both(&j, spec, stdio, &fs, privileged, main, arg, reterr);

        rootfs_done(&fs, spec);
        if (r < 0) {
                jail_abort(&j, spec);
                return r;
        }
        *ret = j;
        return 0;
}

int jail_receive(Jail *j, int flags, WireMessage *ret, int *ret_fd) {
        size_t n_fds = 0;
        int fd = -EBADF, r;

        r = channel_receive(j->control_fd, flags, ret, &fd, 1, &n_fds);
        if (r > 0)
                *ret_fd = n_fds > 0 ? fd : -EBADF;
        return r;
}

int jail_kill(Jail *j) {
        if (syscall(SYS_pidfd_send_signal, j->pidfd, SIGKILL, NULL, 0) < 0)
                return errno == ESRCH ? 0 : -errno;
        return 0;
}

static usec_t jail_timeval_usec(const struct timeval *t) {
        return (usec_t) t->tv_sec * USEC_PER_SEC + (usec_t) t->tv_usec;
}

/* PID 1 usually ends in less time than it takes to wake a sleeping CPU: look a few times before sleeping. */
static int jail_await_end(pid_t pid, struct rusage *ret) {
        usec_t patience = clock_usec() + SPIN_USEC;
        int status;

        for (;;) {
                pid_t r = wait4(pid, &status, clock_usec() < patience ? WNOHANG : 0, ret);

                if (r == pid)
                        return 0;
                if (r < 0 && errno != EINTR)
                        return -errno;
                (void) sched_yield();
        }
}

int jail_finish(Jail *j, JailUsage *ret) {
        struct rusage usage = { 0 };
        int r;

        r = jail_await_end(j->pid, &usage);
        if (r < 0)
                return r;
        j->pid = 0;

        if (ret) {
                memset(ret, 0, sizeof(*ret));
                (void) cgroup_usage(&j->cgroup, &ret->cgroup);
                ret->user_usec = jail_timeval_usec(&usage.ru_utime);
                ret->system_usec = jail_timeval_usec(&usage.ru_stime);
                ret->max_rss_bytes = (uint64_t) usage.ru_maxrss * 1024;
        }

        r = cgroup_remove(&j->cgroup, REMOVE_PATIENCE);
        if (r >= 0)
                warden_dismiss(&j->warden); /* otherwise the warden goes on trying */
        jail_release(j);
        return r;
}
