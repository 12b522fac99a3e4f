#include "gate/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "confine/landlock.h"
#include "confine/program.h"

static int gate_confine_limits(void) {
        int r = program_limit(RLIMIT_CORE, 0);

        return r < 0 ? r : program_limit(RLIMIT_NPROC, 0);
}

static int gate_confine_privileges(void) {
        return program_drop_privileges(/* keep= */ 0);
}

/* Files. What the kernel calls struct landlock_ruleset_attr, all of it, whatever the headers here know. */

typedef struct Ruleset {
        uint64_t files, net, scoped;
} Ruleset;

#define FILES_ALL        ((UINT64_C(1) << 13) - 1) /* what the first version can forbid; seccomp forbids the rest as well */
#define NET_BIND_TCP     (UINT64_C(1) << 0)
#define SCOPE_ABSTRACT   (UINT64_C(1) << 0)
#define SCOPE_SIGNAL     (UINT64_C(1) << 1)

static const char *const readable[] = {
        "/etc",                              /* resolv.conf, hosts, ssl */
        "/run/systemd/resolve",              /* where resolv.conf may point to */
        "/run/resolvconf",
        "/run/NetworkManager",
        "/usr/lib/ssl",
        "/usr/share/ca-certificates",        /* what /etc/ssl/certs points to */
        "/usr/local/share/ca-certificates",
};

static const char *const readable_by_variable[] = { "SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF" };

static int gate_confine_allow_reading(int ruleset, const char *path) {
        struct landlock_path_beneath_attr rule = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE };
        _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return 0; /* not there: nothing to read */
        if (S_ISDIR(st.st_mode))
                rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
        rule.parent_fd = fd;
        return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 ? -errno : 0;
}

/* A kernel without it still has the filter below, which lets files be read: so that is said. */
static int gate_confine_files(void) {
        _cleanup_close_ int ruleset = -EBADF;
        int version = landlock_probe(), r = 0;
        const Ruleset rules = {
                .files = FILES_ALL,
                .net = version >= 4 ? NET_BIND_TCP : 0,
                .scoped = version >= 6 ? SCOPE_ABSTRACT | SCOPE_SIGNAL : 0,
        };
        size_t size = version >= 6 ? sizeof(rules) : version >= 4 ? offsetof(Ruleset, scoped) : offsetof(Ruleset, net);

        if (version < 0) {
                log_warning("this kernel has no Landlock: cove-gate could read what its user can (`cove doctor`)");
                return 0;
        }
        ruleset = (int) syscall(SYS_landlock_create_ruleset, &rules, size, 0);
        if (ruleset < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(readable) && r >= 0; i++)
                r = gate_confine_allow_reading(ruleset, readable[i]);
        for (size_t i = 0; i < ELEMENTSOF(readable_by_variable) && r >= 0; i++) {
                const char *path = getenv(readable_by_variable[i]);

                if (path)
                        r = gate_confine_allow_reading(ruleset, path);
        }
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

/* System calls. */

static const struct sock_filter filter[] = {
        FILTER_BEGIN,

        /* bytes; the most frequent first */
        ALLOW(splice), ALLOW(epoll_wait), ALLOW(epoll_pwait), ALLOW(epoll_pwait2), ALLOW(recvfrom), ALLOW(sendto), ALLOW(recvmsg), ALLOW(sendmsg),
        ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev), ALLOW(close), ALLOW(pipe2), ALLOW(recvmmsg), ALLOW(sendmmsg),
        /* waiting */
        ALLOW(epoll_ctl), ALLOW(epoll_create1), ALLOW(poll), ALLOW(ppoll), ALLOW(timerfd_create), ALLOW(timerfd_settime), ALLOW(eventfd2),
        ALLOW(signalfd4), ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(gettimeofday),
        /* sockets; which, see below */
        ALLOW(accept4), ALLOW(connect), ALLOW(shutdown), ALLOW(getsockname), ALLOW(getpeername), ALLOW(getsockopt), ALLOW(setsockopt),
        /* files, read only by the wall before this one */
        ALLOW(openat), ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(lseek), ALLOW(getdents64), ALLOW(fcntl), ALLOW(faccessat),
        ALLOW(readlinkat),
#ifdef SYS_stat
        ALLOW(stat), ALLOW(access), ALLOW(open), ALLOW(readlink),
#endif
        /* being a process */
        ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(futex), ALLOW(getrandom), ALLOW(getpid), ALLOW(gettid), ALLOW(getuid),
        ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid), ALLOW(uname), ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn),
        ALLOW(restart_syscall), ALLOW(tgkill), ALLOW(exit), ALLOW(exit_group),
        ALLOW_UNLESS_EXEC(mmap),
        ALLOW_UNLESS_EXEC(mprotect),

        /* To the world, not to services of this machine that listen on something else. */
        NUMBER_IS(socket, 5),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),

        FILTER_END,
};

static int gate_confine_calls(void) {
        return program_filter(filter, ELEMENTSOF(filter));
}

static const ProgramStep steps[] = {
        { "limits",     gate_confine_limits     },
        { "privileges", gate_confine_privileges }, /* no_new_privs, which the next two ask for */
        { "files",      gate_confine_files      },
        { "calls",      gate_confine_calls      }, /* last: it forbids what the others use */
};

int gate_confine(Error *reterr) {
        if (PROGRAM_SANITIZED) /* they map, print and look around as they like, and fork to find leaks */
                return 0;
        return program_confine(steps, ELEMENTSOF(steps), reterr);
}
