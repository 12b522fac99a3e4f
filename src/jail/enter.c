#include "jail/enter.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "confine/caps.h"
#include "confine/landlock.h"
#include "jail/apart.h"
#include "jail/content.h"
#include "jail/paths.h"
#include "jail/view.h"
#include "wire/channel.h"

/* A missing guard is left out only if the caller named it. */
static int missing_or(Enter *e, Guard g, int r, Error *reterr, const char *what) {
        if (e->spec->allow_missing & GUARD_BIT(g)) {
                e->missing |= GUARD_BIT(g);
                return 0;
        }
        return error_set(reterr, r, "%s", what);
}

static int enter_death(Enter *e, Error *reterr) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
                return error_set(reterr, -errno, "PR_SET_PDEATHSIG");
        return 0;
}

/* The supervisor sends a message when it is ready; the end of the channel means that it has ended. */
static int enter_await(Enter *e, WireType type, WireMessage *ret, int *ret_fds, size_t *ret_n_fds, Error *reterr) {
        int r = channel_receive(e->control_fd, 0, ret, ret_fds, ret_fds ? CHANNEL_FDS_MAX : 0, ret_n_fds);

        if (r < 0)
                return error_set(reterr, r, "waiting for the supervisor");
        if (r == 0 || ret->type != type)
                _exit(1);
        return 0;
}

static int enter_maps(Enter *e, Error *reterr) {
        WireMessage m;

        return enter_await(e, WIRE_GO, &m, NULL, NULL, reterr);
}

static int enter_ids(Enter *e, Error *reterr) {
        if (e->privileged) {
                if (syscall(SYS_setresgid, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
                                syscall(SYS_setresuid, 0, 0, 0) < 0)
                        return error_set(reterr, -errno, "guest root");
        }
        /* A change of ids clears the parent-death signal. */
        if (prctl(PR_SET_DUMPABLE, 0) < 0)
                return error_set(reterr, -errno, "PR_SET_DUMPABLE");
        (void) umask(0);
        return enter_death(e, reterr);
}

static int enter_session(Enter *e, Error *reterr) {
        static const struct sched_param normal = { 0 };

        if (setsid() < 0)
                return error_set(reterr, -errno, "setsid");
        /* The guest must not get a real-time priority of the caller; and the cpu controller accepts no such process. */
        if (syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &normal) < 0)
                return error_set(reterr, -errno, "scheduler");
        return 0;
}

static bool has_network_ahead(const Enter *e) {
        return e->spec->detached && e->spec->network.netns_fd >= 0;
}

/* PID 1 keeps the sockets that come with a network. */
static int enter_take_network(Enter *e, int *fds, size_t n_fds, size_t *ret_n, Error *reterr) {
        size_t n = e->spec->detached ? net_shape_fds(e->spec->network.shape) : 0;

        *ret_n = 0;
        if ((e->missing & GUARD_BIT(GUARD_NETNS)) || has_network_ahead(e))
                return 0;
        if (n_fds < 1 + n)
                return error_set(reterr, -EBADMSG, "no network namespace came");
        if (setns(fds[0], CLONE_NEWNET) < 0)
                return error_set(reterr, -errno, "network namespace");
        for (size_t i = 0; i < n; i++)
                e->net_fds[i] = TAKE_FD(fds[1 + i]);
        *ret_n = 1 + n;
        return 0;
}

/* Takes what the supervisor has made meanwhile. The network namespace, if there is one, comes first, followed
 * by its sockets. */
static int enter_outside(Enter *e, Error *reterr) {
        int fds[CHANNEL_FDS_MAX], r;
        size_t n_fds = 0, first;
        WireMessage m;

        r = enter_await(e, WIRE_OUTSIDE, &m, fds, &n_fds, reterr);
        if (r < 0)
                return r;
        e->missing |= m.outside.guards_missing;
        r = enter_take_network(e, fds, n_fds, &first, reterr);
        if (r < 0)
                return r;
        if (e->spec->detached && !(e->missing & GUARD_BIT(GUARD_MEMORY)) && n_fds > first)
                e->usage_fd = TAKE_FD(fds[--n_fds]);
        r = cgroup_enter(fds + first, n_fds - first);
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]);
        if (r < 0)
                return error_set(reterr, r, "entering the cgroup");
        /* The root of a cgroup namespace is the group that its maker is in, so clone cannot make it. */
        if (unshare(CLONE_NEWCGROUP) < 0)
                return missing_or(e, GUARD_CGROUPNS, -errno, reterr, "cgroup namespace");
        return 0;
}

static int enter_hostname(Enter *e, Error *reterr) {
        if (e->missing & GUARD_BIT(GUARD_UTSNS))
                return 0;
        if (sethostname(e->spec->hostname, strlen(e->spec->hostname)) < 0)
                return error_set(reterr, -errno, "'%s'", e->spec->hostname);
        (void) setdomainname("(none)", 6);
        return 0;
}

static int enter_propagation(Enter *e, Error *reterr) {
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return error_set(reterr, -errno, "making mounts private");
        return 0;
}

/* Without privilege only the sandbox itself, as root of its own namespaces, can clone the trees that it sees. */
static int enter_trees(Enter *e, Error *reterr) {
        bool idmap_failed;
        int r;

        if (e->privileged)
                return 0;
        r = rootfs_open(e->fs, e->spec, /* base= */ 0, reterr);
        if (r < 0)
                return r;
        return rootfs_restrict(e->fs, e->spec, /* userns_fd= */ -EBADF, /* base= */ 0, &idmap_failed, reterr);
}

static int enter_layer(Enter *e, Error *reterr) {
        return rootfs_make_layer(e->fs, e->spec, reterr);
}

static int enter_root(Enter *e, Error *reterr) {
        return rootfs_enter(e->fs, reterr);
}

static int enter_let_go(Enter *e, Error *reterr) {
        return rootfs_let_go(e->fs, reterr);
}

static int enter_complete(Enter *e, Error *reterr) {
        return rootfs_complete(e->fs, e->spec, reterr);
}

/* The name of the boot id's file is free again, and still cannot be foreseen. */
static int enter_view(Enter *e, Error *reterr) {
        int r = view_attach(e->spec, e->fs->boot.name, e->spec->detached ? &e->meminfo_fd : NULL, reterr);

        if (r < 0)
                return r;
        view_begin_uptime();
        return view_take_cores(e->spec, reterr);
}

static int enter_binds(Enter *e, Error *reterr) {
        return content_put(e->fs, e->spec, reterr);
}

static int enter_paths(Enter *e, Error *reterr) {
        return e->spec->rules ? paths_apply(e->fs, e->spec, &e->writable, reterr) : 0;
}

static int enter_keyring(Enter *e, Error *reterr) {
        if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
                return missing_or(e, GUARD_KEYRING, -errno, reterr, "session keyring");
        return 0;
}

#define FIRST_AWAY_FD 16 /* beyond all final numbers */

static int move_away(int *fd) {
        int moved;

        if (*fd < 0)
                return 0;
        moved = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_AWAY_FD);
        if (moved < 0)
                return -errno;
        *fd = moved;
        return 0;
}

static int enter_descriptors(Enter *e, Error *reterr) {
        int *const kept[] = {
                &e->control_fd, &e->listen_fd, &e->holder_fd, &e->name_fd, e->net_fds, e->net_fds + 1, e->net_fds + 2, &e->meminfo_fd, &e->usage_fd,
                &e->anonymous_fd,
        };
        int place = ENTER_CONTROL_FD, r;

        /* First out of the way of 0–12, then into place. */
        for (size_t i = 0; i < ELEMENTSOF(kept); i++) {
                r = move_away(kept[i]);
                if (r < 0)
                        return error_set(reterr, r, "control channel");
        }
        for (int i = 0; i < 3; i++) {
                r = move_away(e->stdio + i);
                if (r < 0)
                        return error_set(reterr, r, "descriptor %d", i);
        }
        for (int i = 0; i < 3; i++) {
                int fd = e->stdio[i] >= 0 ? e->stdio[i] : open("/dev/null", O_RDWR | O_CLOEXEC);
                if (fd < 0 || (fd != i && dup3(fd, i, 0) < 0))
                        return error_set(reterr, -errno, "descriptor %d", i);
        }
        for (size_t i = 0; i < ELEMENTSOF(kept); i++) {
                if (*kept[i] < 0)
                        continue;
                if (dup3(*kept[i], place, O_CLOEXEC) < 0)
                        return error_set(reterr, -errno, "control channel");
                *kept[i] = place++;
        }
        if (kernel_close_range((unsigned) place, ~0u, 0) < 0)
                return error_set(reterr, -errno, "close_range");
        return 0;
}

static int enter_anonymous(Enter *e, Error *reterr) {
        bool has_all;

        if (e->anonymous_fd >= 0)
                return 0;
        e->anonymous_fd = apart_hold_anonymous(APART_HOLD_TRIES, &has_all);
        return e->anonymous_fd < 0 ? error_set(reterr, e->anonymous_fd, "an event counter") : 0;
}

/* PID 1 has an id that no guest has, guest root included: the kernel lets processes of the same id change each
 * other's limits, priority and CPUs. With a single id there is no other to use. */
static int enter_own_id(Enter *e, Error *reterr) {
        if (!e->privileged)
                return 0;
        if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || syscall(SYS_setresgid, JAIL_INIT_ID, JAIL_INIT_ID, JAIL_INIT_ID) < 0 ||
                        syscall(SYS_setresuid, JAIL_INIT_ID, JAIL_INIT_ID, JAIL_INIT_ID) < 0)
                return error_set(reterr, -errno, "id of PID 1");
        if (prctl(PR_SET_DUMPABLE, 0) < 0)
                return error_set(reterr, -errno, "PR_SET_DUMPABLE");
        return enter_death(e, reterr);
}

static int enter_capabilities(Enter *e, Error *reterr) {
        int r = caps_drop_bounding(CAPS_ALL, caps_init());
        if (r < 0)
                return error_set(reterr, r, "bounding set");
        r = enter_own_id(e, reterr);
        if (r < 0)
                return r;
        r = caps_set(caps_init());
        if (r < 0)
                return error_set(reterr, r, "capset");
        return 0;
}

static int enter_no_new_privs(Enter *e, Error *reterr) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return error_set(reterr, -errno, "PR_SET_NO_NEW_PRIVS");
        return 0;
}

static int enter_landlock(Enter *e, Error *reterr) {
        int r;

        if (e->missing & GUARD_BIT(GUARD_LANDLOCK))
                return 0;
        if (e->spec->rules && e->spec->rules->flags & RULES_SEALED)
                r = landlock_confine_sealed((const char *const *) e->writable.items, e->writable.n);
        else if (e->spec->enterable)
                r = landlock_confine_to_root_unscoped();
        else
                r = landlock_confine_to_root();
        if (r < 0)
                return error_set(reterr, r, "landlock");
        return 0;
}

/* From here on PID 1 itself reports to the supervisor. */
static int enter_outlive(Enter *e, Error *reterr) {
        if (e->spec->detached && prctl(PR_SET_PDEATHSIG, 0) < 0)
                return error_set(reterr, -errno, "PR_SET_PDEATHSIG");
        return 0;
}

/* Order is policy: the comment beside a line says why it stands there. */
static const struct {
        const char *name;
        int (*function)(Enter *e, Error *reterr);
} steps[] = {
        { "parent-death", enter_death        }, /* first: from here on nothing outlives the supervisor */
        { "id-map",       enter_maps         }, /* the supervisor writes it from outside */
        { "guest-root",   enter_ids          }, /* files made from here on belong to the guest's ids */
        { "session",      enter_session      }, /* off the caller's terminal */
        { "hostname",     enter_hostname     },
        { "propagation",  enter_propagation  }, /* before the first mount: none may reach the host */
        { "trees",        enter_trees        },
        { "layer",        enter_layer        },
        { "root",         enter_root         },
        { "old-root",     enter_let_go       }, /* from here on no path leads out, by name or by ".." */
        { "complete",     enter_complete     },
        { "outside",      enter_outside      }, /* before the caller's files are written: they count against the limits */
        { "view",         enter_view         }, /* over the kernel's own files, before the caller's mounts */
        { "binds",        enter_binds        }, /* last of the caller's mounts: they may cover anything */
        { "paths",        enter_paths        }, /* rules hold for all that is there now */
        { "keyring",      enter_keyring      },
        { "descriptors",  enter_descriptors  }, /* after the last use of a tree or of the host's root */
        { "anonymous",    enter_anonymous    }, /* keeps one more descriptor, if it has none yet */
        { "capabilities", enter_capabilities }, /* after the last mount */
        { "no-new-privs", enter_no_new_privs }, /* Landlock asks for it */
        { "landlock",     enter_landlock     }, /* after the last mount, which it forbids */
        { "outlive",      enter_outlive      }, /* last: until here a start dies with its maker */
};

void enter_run(Enter *e, JailMain main, void *arg) {
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                WireMessage m = { .type = WIRE_FAILED };
                Error error = { 0 };
                int r;

                r = steps[i].function(e, &error);
                if (r >= 0)
                        continue;

                m.failed.error = -r;
                (void) snprintf(m.failed.step, sizeof(m.failed.step), "%s", steps[i].name);
                (void) snprintf(m.failed.detail, sizeof(m.failed.detail), "%.255s", error.text);
                (void) channel_send(e->control_fd, &m, NULL, 0);
                _exit(1);
        }

        main(&(JailInside) {
                .control_fd = e->control_fd,
                .listen_fd = e->listen_fd,
                .held_fds = { e->holder_fd, e->name_fd, e->anonymous_fd },
                .network = e->missing & GUARD_BIT(GUARD_NETNS) ? SPAWN_NETWORK_NONE : e->spec->network.shape,
                .net_fds = e->net_fds,
                .meminfo_fd = e->meminfo_fd,
                .usage_fd = e->usage_fd,
                .missing = e->missing,
                .single_id = !e->privileged,
        }, arg);
        _exit(1);
}
