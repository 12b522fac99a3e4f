#include "gate/confine.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/macro.h"
#include "confine/filter.h"
#include "confine/program.h"

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

static const struct sock_filter filter[] = {
        FILTER_BEGIN,

        /* bytes; the most frequent first */
        ALLOW(splice), ALLOW(epoll_wait), ALLOW(epoll_pwait), ALLOW(epoll_pwait2), ALLOW(recvfrom), ALLOW(sendto), ALLOW(recvmsg), ALLOW(sendmsg),
        ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev), ALLOW(close), ALLOW(pipe2), ALLOW(recvmmsg), ALLOW(sendmmsg),
        /* waiting */
        ALLOW(epoll_ctl), ALLOW(epoll_create1), ALLOW(poll), ALLOW(ppoll), ALLOW(timerfd_create), ALLOW(timerfd_settime), ALLOW(eventfd2),
        ALLOW(signalfd4), ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(gettimeofday),
        /* sockets; their families are limited below */
        ALLOW(accept4), ALLOW(connect), ALLOW(shutdown), ALLOW(getsockname), ALLOW(getpeername), ALLOW(getsockopt), ALLOW(setsockopt),
        /* files; Landlock makes them read-only */
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

        /* Only IPv4 and IPv6: services of this machine that listen on other kinds of sockets are out of
         * reach. */
        NUMBER_IS(socket, 5),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),

        /* Its own limits, within the hard ones, for the reserve of descriptors. Not those of other processes
         * of the same user. */
        NUMBER_IS(prlimit64, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),

        FILTER_END,
};

static void gate_allow_reading(ProgramWalls *w, const char *path) {
        w->rules[w->n_rules++] = (LandlockRule) {
                .path = path,
                .access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
                .optional = true,
        };
}

int gate_confine(Error *reterr) {
        ProgramWalls walls = {
                .no_children = true,
                .forbidden = { .files = LANDLOCK_FILES, .net = LANDLOCK_BIND_TCP, .scoped = LANDLOCK_ABSTRACT_SOCKETS | LANDLOCK_SIGNALS },
                /* the filter remains, but it lets files be read: hence this warning */
                .without_landlock = "this kernel has no Landlock: cove-gate could read what its user can (`cove doctor`)",
                .filters = { { filter, ELEMENTSOF(filter) } },
        };

        if (PROGRAM_SANITIZED) /* sanitizers map, print and look around freely, and fork to find leaks */
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(readable); i++)
                gate_allow_reading(&walls, readable[i]);
        for (size_t i = 0; i < ELEMENTSOF(readable_by_variable); i++)
                if (getenv(readable_by_variable[i]))
                        gate_allow_reading(&walls, getenv(readable_by_variable[i]));
        return program_confine(&walls, reterr);
}
