/* ns.c: joining the host's namespaces, and making new ones to gain capabilities in them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static const struct {
        const char *name;
        int flag;
} types[] = {
        { "user",    CLONE_NEWUSER  },
        { "mnt",    CLONE_NEWNS    },
        { "pid",    CLONE_NEWPID   },
        { "net",    CLONE_NEWNET   },
        { "ipc",    CLONE_NEWIPC   },
        { "uts",    CLONE_NEWUTS   },
        { "cgroup", CLONE_NEWCGROUP },
        { "time",   CLONE_NEWTIME  },
};

/* The arguments are the runner's namespaces, as /proc shows them: "mnt:[4026531841]"… */
static Verdict try_own(char **args) {
        Verdict v = HELD;

        (void) arg_or_die(args, ELEMENTSOF(types) - 1);
        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                char path[64], id[64];
                ssize_t n;

                (void) snprintf(path, sizeof(path), "/proc/self/ns/%s", types[i].name);
                n = readlink(path, id, sizeof(id) - 1);
                if (n < 0)
                        return broken("%s: %m", path);
                id[n] = '\0';
                for (char **host = args; *host; host++)
                        if (strcmp(id, *host) == 0)
                                v = escaped("the %s namespace is the host's", types[i].name);
        }
        return v;
}

static Verdict try_setns_init(char **args) {
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                char path[64];
                int fd;

                (void) snprintf(path, sizeof(path), "/proc/1/ns/%s", types[i].name);
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        continue;
                v = worst(v, escaped("%s was opened", path));
                v = worst(v, refused(path, setns(fd, types[i].flag)));
                (void) close(fd);
        }
        return v;
}

static Verdict try_setns_self(char **args) {
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                char path[64];
                int fd;

                (void) snprintf(path, sizeof(path), "/proc/self/ns/%s", types[i].name);
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        return broken("%s: %m", path);
                v = worst(v, refused(path, setns(fd, 0)));
                (void) close(fd);
        }
        return v;
}

static Verdict try_setns_pidfd(char **args) {
        int pidfd = (int) syscall(SYS_pidfd_open, 1, 0);

        if (pidfd < 0)
                return HELD;
        return refused("setns by a pidfd of PID 1", setns(pidfd, CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID));
}

/* From a namespace to its parent and to its owner. */
static Verdict try_parent(char **args) {
        int user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC),
            pid = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
        Verdict v = HELD;

        if (user < 0 || pid < 0)
                return broken("/proc/self/ns: %m");
        v = worst(v, failed("the parent of the user namespace", ioctl(user, NS_GET_PARENT)));
        v = worst(v, failed("the owner of the user namespace", ioctl(user, NS_GET_USERNS)));
        return worst(v, failed("the parent of the pid namespace", ioctl(pid, NS_GET_PARENT)));
}

static Verdict unshare_one(int flag, const char *name) {
        char what[64];

        (void) snprintf(what, sizeof(what), "unshare of the %s namespace", name);
        return refused(what, unshare(flag));
}

static Verdict try_unshare(char **args) {
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                v = worst(v, unshare_one(types[i].flag, types[i].name));
        return v;
}

static Verdict try_unshare_user(char **args) {
        return refused("unshare", unshare(CLONE_NEWUSER));
}

static Verdict clone_with(unsigned long flags, const char *what) {
        long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

        if (pid == 0)
                _exit(0);
        if (pid > 0)
                (void) waitpid((pid_t) pid, NULL, 0);
        return refused(what, pid);
}

static Verdict try_clone(char **args) {
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                char what[64];

                if (types[i].flag == CLONE_NEWTIME) /* part of the exit signal in clone */
                        continue;
                (void) snprintf(what, sizeof(what), "clone with a new %s namespace", types[i].name);
                v = worst(v, clone_with((unsigned long) types[i].flag, what));
        }
        return v;
}

static Verdict try_clone_all(char **args) {
        return clone_with(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                          CLONE_NEWUTS | CLONE_NEWCGROUP,
                        "clone with all namespaces");
}

/* A filter cannot look behind the pointer, so the call as a whole has to be closed. */
static Verdict clone3_with(unsigned long long flags, const char *what) {
        unsigned long long clone_args[8] = { [0] = flags, [4] = SIGCHLD };
        long pid = syscall(SYS_clone3, clone_args, sizeof(clone_args));

        if (pid == 0)
                _exit(0);
        if (pid > 0)
                (void) waitpid((pid_t) pid, NULL, 0);
        return refused(what, pid);
}

static Verdict try_clone3(char **args) {
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                char what[64];

                (void) snprintf(what, sizeof(what), "clone3 with a new %s namespace", types[i].name);
                v = worst(v, clone3_with((unsigned long long) types[i].flag, what));
        }
        return v;
}

static Verdict try_into_cgroup(char **args) {
        int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        unsigned long long clone_args[11] = {
                [0] = 0x200000000ull /* CLONE_INTO_CGROUP */, [4] = SIGCHLD, [10] = (unsigned) fd
        };
        long pid = syscall(SYS_clone3, clone_args, sizeof(clone_args));

        if (pid == 0)
                _exit(0);
        if (pid > 0)
                (void) waitpid((pid_t) pid, NULL, 0);
        return refused("clone3 into a cgroup", pid);
}

/* The usual beginning of a kernel exploit: a user namespace, in it a mount. */
static Verdict try_nested(char **args) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
                return HELD;
        if (mount("none", "/tmp", "tmpfs", 0, NULL) == 0)
                return escaped("a nested user namespace may mount");
        return escaped("a nested user namespace was made");
}

static Verdict try_map(char **args) {
        static const char *const paths[] = { "/proc/self/uid_map", "/proc/self/gid_map" };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                unsigned inside, outside, count;
                FILE *file = fopen(paths[i], "re");

                while (file && fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
                        if (outside == 0)
                                v = escaped("%s maps %u to root of the host", paths[i], inside);
                if (file)
                        (void) fclose(file);
                if (write_file(paths[i], "0 0 1\n") == 0)
                        v = escaped("%s was written", paths[i]);
        }
        return v;
}

/* clang-format off */
const Attempt ns_attempts[] = {
        { "ns-own", try_own, AS_BOTH,
          "every namespace is the sandbox's own" },
        { "ns-setns-init", try_setns_init, AS_BOTH,
          "the namespaces of PID 1 cannot be opened, so not joined" },
        { "ns-setns-self", try_setns_self, AS_BOTH,
          "setns is closed, whatever the namespace" },
        { "ns-setns-pidfd", try_setns_pidfd, AS_BOTH,
          "setns takes a process as well, and is closed for that too" },
        { "ns-parent", try_parent, AS_BOTH,
          "nsfs gives no way from a namespace to those around it" },
        { "ns-unshare", try_unshare, AS_BOTH,
          "no namespace of any type can be made" },
        { "ns-unshare-user", try_unshare_user, AS_BOTH,
          "a user namespace would give all capabilities over the rest" },
        { "ns-clone", try_clone, AS_BOTH,
          "the same by clone" },
        { "ns-clone-all", try_clone_all, AS_BOTH,
          "the same for all at once" },
        { "ns-clone3", try_clone3, AS_BOTH,
          "flags behind a pointer cannot be judged, so clone3 is not there" },
        { "ns-into-cgroup", try_into_cgroup, AS_BOTH,
          "nor can a child be put into another cgroup by clone3" },
        { "ns-nested", try_nested, AS_BOTH,
          "nested user namespaces are the door to most kernel exploits" },
        { "ns-map", try_map, AS_BOTH,
          "no id inside is root of the host, and the map cannot be changed" },
        { NULL },
};
/* clang-format on */
