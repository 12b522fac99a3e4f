#include "gate/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "confine/caps.h"
#include "confine/landlock.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static int limit(int resource, rlim_t value) {
        return setrlimit(resource, &(struct rlimit) { .rlim_cur = value, .rlim_max = value }) < 0 ? -errno : 0;
}

static int confine_limits(void) {
        int r = limit(RLIMIT_CORE, 0);

        return r < 0 ? r : limit(RLIMIT_NPROC, 0);
}

static int confine_privileges(void) {
        int r;

        if (geteuid() == 0) {
                r = caps_drop_bounding(CAPS_ALL, 0);
                if (r < 0 && r != -EPERM)
                        return r;
        }
        r = caps_set(0);
        if (r < 0)
                return r;
        if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return 0;
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

static int allow_reading(int ruleset, const char *path) {
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
static int confine_files(void) {
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
                r = allow_reading(ruleset, readable[i]);
        for (size_t i = 0; i < ELEMENTSOF(readable_by_variable) && r >= 0; i++) {
                const char *path = getenv(readable_by_variable[i]);

                if (path)
                        r = allow_reading(ruleset, path);
        }
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

/* System calls. */

#define LOAD(field)      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action)   BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW(name)      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
/* Skips the lines that follow when it is another one. */
#define NUMBER_IS(name, lines) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, lines)

/* Memory, but none that can be executed. */
#define ALLOW_UNLESS_EXEC(name)                                                                              \
        NUMBER_IS(name, 4),                                                                                  \
        LOAD(args[2]),                                                                                       \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),                                               \
        ANSWER(SECCOMP_RET_ALLOW),                                                                           \
        LOAD(nr)

static const struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),

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

        ANSWER(SECCOMP_RET_ERRNO | EPERM),
};

static int confine_calls(void) {
        const struct sock_fprog program = {
                .len = ELEMENTSOF(filter),
                .filter = (struct sock_filter *) filter, /* the kernel only reads it */
        };

        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

static const struct {
        const char *name;
        int (*function)(void);
} steps[] = {
        { "limits",     confine_limits     },
        { "privileges", confine_privileges }, /* no_new_privs, which the next two ask for */
        { "files",      confine_files      },
        { "calls",      confine_calls      }, /* last: it forbids what the others use */
};

int gate_confine(Error *reterr) {
        if (SANITIZED) /* they map, print and look around as they like, and fork to find leaks */
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                int r = steps[i].function();
                if (r < 0)
                        return error_set(reterr, r, "cannot shut itself in (%s): %m", steps[i].name);
        }
        return 0;
}
