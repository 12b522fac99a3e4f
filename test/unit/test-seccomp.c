/* The filter is asked twice: by an interpreter here, which sees every verdict for any architecture and
 * argument, and by the kernel, in children that load it and try. */

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/kd.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macro.h"
#include "confine/seccomp.h"
#include "seccomp-filters.h"

#ifdef __x86_64__
#define ARCH_OURS    AUDIT_ARCH_X86_64
#define ARCH_FOREIGN AUDIT_ARCH_I386
#define NUMBER_GAP   400 /* nobody's, between the old numbers and the common ones */
#else
#define ARCH_OURS    AUDIT_ARCH_AARCH64
#define ARCH_FOREIGN AUDIT_ARCH_ARM
#define NUMBER_GAP   400
#endif

/* Younger than the distribution's headers (Linux 6.1); the same numbers everywhere. */
enum {
        NR_cachestat = 451,
        NR_fchmodat2 = 452,
        NR_map_shadow_stack = 453,
        NR_futex_wake = 454,
        NR_futex_wait = 455,
        NR_statmount = 457,
        NR_listmount = 458,
        NR_mseal = 462,
        NR_setxattrat = 463,
        NR_open_tree_attr = 467,
        NR_beyond = 1000,
};

#define X32_BIT          0x40000000
#define KERNEL_O_TMPFILE 020000000
#define NUMBERS_TRIED    2048
#define TRY_LOST         (-1) /* the child did not get that far */
#define VARIES           (-2) /* depends on the configuration of the kernel */

/* The interpreter: the instructions the filters use, and no others. */

static int n_skipped;

static uint32_t interpret(const struct sock_filter *code, size_t n, const struct seccomp_data *data) {
        uint32_t a = 0;

        for (size_t i = 0; i < n; i++) {
                const struct sock_filter *f = code + i;

                switch (f->code) {
                case BPF_LD | BPF_W | BPF_ABS:
                        assert_true(f->k % sizeof(a) == 0 && f->k + sizeof(a) <= sizeof(*data));
                        memcpy(&a, (const uint8_t *) data + f->k, sizeof(a));
                        break;
                case BPF_ALU | BPF_AND | BPF_K: a &= f->k; break;
                case BPF_JMP | BPF_JA: i += f->k; break;
                case BPF_JMP | BPF_JEQ | BPF_K: i += a == f->k ? f->jt : f->jf; break;
                case BPF_JMP | BPF_JGE | BPF_K: i += a >= f->k ? f->jt : f->jf; break;
                case BPF_RET | BPF_K: return f->k;
                default: fail_msg("unknown instruction 0x%x at %zu", f->code, i);
                }
        }
        fail_msg("runs off its end");
        return 0;
}

static uint32_t verdict_on(SeccompFlags flags, uint32_t arch, uint32_t nr, const uint64_t args[static 6]) {
        struct seccomp_data data = { .nr = (int) nr, .arch = arch };

        memcpy(data.args, args, sizeof(data.args));
        return flags & SECCOMP_NOSUID
                               ? interpret(seccomp_filter_nosuid, ELEMENTSOF(seccomp_filter_nosuid), &data)
                               : interpret(seccomp_filter, ELEMENTSOF(seccomp_filter), &data);
}

static const uint64_t ones[6] = { -1, -1, -1, -1, -1, -1 };

static uint32_t verdict_plain(SeccompFlags flags, uint32_t nr) {
        return verdict_on(flags, ARCH_OURS, nr, (const uint64_t[6]) { 0 });
}

static void assert_verdict(const char *what, uint32_t found, uint32_t expected) {
        if (found != expected)
                fail_msg("%s: verdict 0x%08x, not 0x%08x", what, found, expected);
}

/* By number. The closed list is the promise; it is written out here a second time, not taken from the table. */

/* clang-format off */
#define CALL(name) { #name, SYS_##name }

typedef struct NamedCall {
        const char *name;
        long nr;
} NamedCall;

static const NamedCall closed[] = {
        CALL(acct), CALL(add_key), CALL(adjtimex), CALL(bpf),
        CALL(clock_adjtime), CALL(clock_settime), CALL(delete_module), CALL(fanotify_init),
        CALL(fanotify_mark), CALL(finit_module), CALL(fsconfig), CALL(fsmount),
        CALL(fsopen), CALL(fspick), CALL(init_module), CALL(io_uring_enter),
        CALL(io_uring_register), CALL(io_uring_setup), CALL(kcmp), CALL(kexec_file_load),
        CALL(kexec_load), CALL(keyctl), CALL(lookup_dcookie), CALL(migrate_pages),
        CALL(mount), CALL(mount_setattr), CALL(move_mount), CALL(move_pages),
        CALL(nfsservctl), CALL(open_by_handle_at), CALL(open_tree), CALL(perf_event_open),
        CALL(pivot_root), CALL(process_mrelease), CALL(quotactl), CALL(quotactl_fd),
        CALL(reboot), CALL(remap_file_pages), CALL(request_key), CALL(setdomainname),
        CALL(sethostname), CALL(setns), CALL(settimeofday), CALL(swapoff),
        CALL(swapon), CALL(syslog), CALL(umount2), CALL(unshare),
        CALL(userfaultfd), CALL(vhangup), CALL(vmsplice),
#ifdef __x86_64__
        CALL(_sysctl), CALL(create_module), CALL(ioperm), CALL(iopl),
        CALL(modify_ldt), CALL(sysfs), CALL(uselib), CALL(ustat),
#endif
};

static const NamedCall not_there[] = {
        CALL(clone3), CALL(copy_file_range), CALL(io_cancel), CALL(io_destroy), CALL(io_getevents),
        CALL(io_pgetevents), CALL(io_setup), CALL(io_submit), CALL(memfd_secret),
        { "cachestat", NR_cachestat },
        { "listmount", NR_listmount },
        { "open_tree_attr", NR_open_tree_attr },
        { "statmount", NR_statmount },
        { "a number in the gap", NUMBER_GAP },
        { "a number of the future", NR_beyond },
        { "the last one before x32", X32_BIT - 1 },
};

/* What the programs that people bring cannot do without: shells, compilers, Python, node, Go, Java, databases,
 * package managers, debuggers. */
static const NamedCall open_calls[] = {
        CALL(accept4), CALL(brk), CALL(capset), CALL(chroot),
        CALL(clock_nanosleep), CALL(clone), CALL(close_range),
        CALL(epoll_pwait2), CALL(eventfd2), CALL(execve), CALL(execveat),
        CALL(exit_group), CALL(faccessat2), CALL(fallocate), CALL(fchownat),
        CALL(flock), CALL(futex), CALL(futex_waitv), CALL(getdents64),
        CALL(getrandom), CALL(inotify_add_watch), CALL(kill), CALL(landlock_restrict_self),
        CALL(linkat), CALL(membarrier), CALL(memfd_create), CALL(mknodat),
        CALL(mlock), CALL(mmap), CALL(mprotect), CALL(mq_open),
        CALL(name_to_handle_at), CALL(openat), CALL(pidfd_getfd), CALL(pidfd_open),
        CALL(pidfd_send_signal), CALL(ppoll), CALL(prlimit64), CALL(process_vm_readv),
        CALL(ptrace), CALL(renameat2), CALL(restart_syscall), CALL(rseq),
        CALL(rt_sigreturn), CALL(sched_setaffinity), CALL(seccomp), CALL(semtimedop),
        CALL(sendfile), CALL(set_robust_list), CALL(setgroups), CALL(setresuid),
        CALL(shmget), CALL(signalfd4), CALL(splice), CALL(statx),
        CALL(sync_file_range), CALL(timer_create), CALL(timerfd_create), CALL(utimensat),
        CALL(wait4), CALL(waitid),
        { "fchmodat2", NR_fchmodat2 },
        { "futex_wait", NR_futex_wait },
        { "futex_wake", NR_futex_wake },
        { "map_shadow_stack", NR_map_shadow_stack },
        { "mseal", NR_mseal },
#ifdef __x86_64__
        CALL(access), CALL(arch_prctl), CALL(epoll_wait), CALL(fork),
        CALL(getdents), CALL(open), CALL(pipe), CALL(poll),
        CALL(readlink), CALL(select), CALL(stat), CALL(vfork),
#endif
};
/* clang-format on */

static void test_closed_whatever_the_arguments(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(closed); i++)
                for (SeccompFlags flags = 0; flags <= SECCOMP_NOSUID; flags++) {
                        uint32_t nr = (uint32_t) closed[i].nr;

                        assert_verdict(closed[i].name, verdict_plain(flags, nr), SECCOMP_RET_ERRNO | EPERM);
                        assert_verdict(closed[i].name, verdict_on(flags, ARCH_OURS, nr, ones),
                                        SECCOMP_RET_ERRNO | EPERM);
                }
}

static void test_not_there(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(not_there); i++)
                for (SeccompFlags flags = 0; flags <= SECCOMP_NOSUID; flags++)
                        assert_verdict(not_there[i].name, verdict_plain(flags, (uint32_t) not_there[i].nr),
                                        SECCOMP_RET_ERRNO | ENOSYS);
}

static void test_open(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(open_calls); i++)
                for (SeccompFlags flags = 0; flags <= SECCOMP_NOSUID; flags++)
                        assert_verdict(open_calls[i].name, verdict_plain(flags, (uint32_t) open_calls[i].nr),
                                        SECCOMP_RET_ALLOW);
}

static void test_foreign_abi_is_killed(void **state) {
        static const uint64_t none[6] = { 0 };

        for (uint32_t nr = 0; nr < NUMBERS_TRIED; nr++)
                for (SeccompFlags flags = 0; flags <= SECCOMP_NOSUID; flags++) {
                        assert_verdict("foreign", verdict_on(flags, ARCH_FOREIGN, nr, none),
                                        SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
                        assert_verdict("x32", verdict_plain(flags, nr | X32_BIT), SECCOMP_RET_KILL_PROCESS);
                        assert_verdict("x32, negative", verdict_plain(flags, nr | 0x80000000),
                                        SECCOMP_RET_KILL_PROCESS);
#endif
                }

        /* A tracer's way to skip a call. */
        assert_verdict("-1", verdict_plain(/* flags= */ 0, UINT32_MAX), SECCOMP_RET_ERRNO | ENOSYS);
}

/* By argument. */

typedef struct Attempt {
        const char *what;
        long nr;
        uint64_t args[6];
        unsigned ints;      /* bit n: argument n is an int to the kernel, its upper half must not matter */
        int denied;         /* errno of the filter, 0 when it lets the call pass */
        int kernel;         /* errno of the kernel for a call that passes */
        SeccompFlags flags; /* only with these */
} Attempt;

#define NOWHERE ((uintptr_t) "/nonexistent/file") /* a path that a call which passes ends at, with ENOENT */

#define DENIED(error) .denied = (error)
#define PASSES(error) .kernel = (error)
#define NOSUID        .flags = SECCOMP_NOSUID

/* clang-format off */
static const Attempt attempts[] = {
        /* terminals; nothing is open at -1, so what passes ends with EBADF */
        { "TCGETS", SYS_ioctl, { -1, TCGETS }, 3, PASSES(EBADF) },
        { "TIOCGWINSZ", SYS_ioctl, { -1, TIOCGWINSZ }, 3, PASSES(EBADF) },
        { "TIOCSCTTY", SYS_ioctl, { -1, TIOCSCTTY }, 3, PASSES(EBADF) },
        { "TIOCSTI", SYS_ioctl, { -1, TIOCSTI }, 3, DENIED(EPERM) },
        { "TIOCLINUX", SYS_ioctl, { -1, TIOCLINUX }, 3, DENIED(EPERM) },
        { "TIOCCONS", SYS_ioctl, { -1, TIOCCONS }, 3, DENIED(EPERM) },
        { "TIOCSETD", SYS_ioctl, { -1, TIOCSETD }, 3, DENIED(EPERM) },
        { "SET_RECEIVED_SUBVOL", SYS_ioctl, { -1, BTRFS_IOC_SET_RECEIVED_SUBVOL }, 3, DENIED(EPERM) },
        { "SNAP_CREATE", SYS_ioctl, { -1, BTRFS_IOC_SNAP_CREATE }, 3, DENIED(EPERM) },
        { "SNAP_CREATE_V2", SYS_ioctl, { -1, BTRFS_IOC_SNAP_CREATE_V2 }, 3, DENIED(EPERM) },
        { "SNAP_DESTROY", SYS_ioctl, { -1, BTRFS_IOC_SNAP_DESTROY }, 3, DENIED(EPERM) },
        { "SNAP_DESTROY_V2", SYS_ioctl, { -1, BTRFS_IOC_SNAP_DESTROY_V2 }, 3, DENIED(EPERM) },
        { "SUBVOL_CREATE", SYS_ioctl, { -1, BTRFS_IOC_SUBVOL_CREATE }, 3, DENIED(EPERM) },
        { "SUBVOL_CREATE_V2", SYS_ioctl, { -1, BTRFS_IOC_SUBVOL_CREATE_V2 }, 3, DENIED(EPERM) },
        { "SUBVOL_SETFLAGS", SYS_ioctl, { -1, BTRFS_IOC_SUBVOL_SETFLAGS }, 3, DENIED(EPERM) },
        { "FICLONE", SYS_ioctl, { -1, FICLONE }, 3, DENIED(EOPNOTSUPP) },
        { "FICLONERANGE", SYS_ioctl, { -1, FICLONERANGE }, 3, DENIED(EOPNOTSUPP) },
        { "FIDEDUPERANGE", SYS_ioctl, { -1, FIDEDUPERANGE }, 3, DENIED(EOPNOTSUPP) },
        { "KDSKBENT", SYS_ioctl, { -1, KDSKBENT }, 3, DENIED(EPERM) },
        { "KDSKBSENT", SYS_ioctl, { -1, KDSKBSENT }, 3, DENIED(EPERM) },
        { "KDSKBDIACR", SYS_ioctl, { -1, KDSKBDIACR }, 3, DENIED(EPERM) },
        { "KDSKBDIACRUC", SYS_ioctl, { -1, KDSKBDIACRUC }, 3, DENIED(EPERM) },
        { "KDSETKEYCODE", SYS_ioctl, { -1, KDSETKEYCODE }, 3, DENIED(EPERM) },

        /* namespaces; 0x80 is CLONE_NEWTIME elsewhere and half a signal number here */
        { "fork by clone", SYS_clone, { SIGCHLD }, 1, PASSES(0) },
        { "CLONE_NEWUSER", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, 1, DENIED(EPERM) },
        { "CLONE_NEWNS", SYS_clone, { CLONE_NEWNS | SIGCHLD }, 1, DENIED(EPERM) },
        { "CLONE_NEWPID", SYS_clone, { CLONE_NEWPID | SIGCHLD }, 1, DENIED(EPERM) },
        { "CLONE_NEWNET", SYS_clone, { CLONE_NEWNET | SIGCHLD }, 1, DENIED(EPERM) },
        { "CLONE_NEWIPC", SYS_clone, { CLONE_NEWIPC | SIGCHLD }, 1, DENIED(EPERM) },
        { "CLONE_NEWUTS", SYS_clone, { CLONE_NEWUTS | SIGCHLD }, 1, DENIED(EPERM) },
        { "CLONE_NEWCGROUP", SYS_clone, { CLONE_NEWCGROUP | SIGCHLD }, 1, DENIED(EPERM) },
        { "all of them", SYS_clone, { 0x7e020000 | SIGCHLD }, 1, DENIED(EPERM) },
        { "bit 7", SYS_clone, { 0x80 | CLONE_FS }, 1, PASSES(VARIES) },

        /* socket families */
        { "unix", SYS_socket, { AF_UNIX, SOCK_STREAM, 0 }, 7, PASSES(0) },
        { "unix, seq", SYS_socket, { AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0 }, 7, PASSES(0) },
        { "AF_UNSPEC", SYS_socket, { AF_UNSPEC, SOCK_STREAM, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "packet", SYS_socket, { AF_PACKET, SOCK_RAW, 0x300 }, 7, DENIED(EAFNOSUPPORT) },
        { "vsock", SYS_socket, { AF_VSOCK, SOCK_STREAM, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "alg", SYS_socket, { AF_ALG, SOCK_SEQPACKET, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "bluetooth", SYS_socket, { AF_BLUETOOTH, SOCK_RAW, 1 }, 7, DENIED(EAFNOSUPPORT) },
        { "key", SYS_socket, { AF_KEY, SOCK_RAW, 2 }, 7, DENIED(EAFNOSUPPORT) },
        { "xdp", SYS_socket, { AF_XDP, SOCK_RAW, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "tipc", SYS_socket, { AF_TIPC, SOCK_STREAM, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "can", SYS_socket, { AF_CAN, SOCK_RAW, 1 }, 7, DENIED(EAFNOSUPPORT) },
        { "rds", SYS_socket, { AF_RDS, SOCK_SEQPACKET, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "family -1", SYS_socket, { -1, SOCK_STREAM, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "unix pair", SYS_socketpair, { AF_UNIX, SOCK_STREAM, 0, 0 }, 7, PASSES(EFAULT) },
        { "tipc pair", SYS_socketpair, { AF_TIPC, SOCK_STREAM, 0, 0 }, 7, DENIED(EAFNOSUPPORT) },
        { "inet pair", SYS_socketpair, { AF_INET, SOCK_STREAM, 0, 0 }, 7, DENIED(EAFNOSUPPORT) },

        /* socket types and protocols */
        { "tcp", SYS_socket, { AF_INET, SOCK_STREAM, 0 }, 7, PASSES(0) },
        { "tcp by name", SYS_socket, { AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP }, 7, PASSES(0) },
        { "udp", SYS_socket, { AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP }, 7, PASSES(0) },
        { "ping", SYS_socket, { AF_INET, SOCK_DGRAM, IPPROTO_ICMP }, 7, PASSES(VARIES) },
        { "tcp6", SYS_socket, { AF_INET6, SOCK_STREAM, IPPROTO_TCP }, 7, PASSES(VARIES) },
        { "ping6", SYS_socket, { AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6 }, 7, PASSES(VARIES) },
        { "raw", SYS_socket, { AF_INET, SOCK_RAW, IPPROTO_ICMP }, 7, DENIED(EPERM) },
        { "raw, cloexec", SYS_socket, { AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW }, 7, DENIED(EPERM) },
        { "raw6", SYS_socket, { AF_INET6, SOCK_RAW, IPPROTO_ICMPV6 }, 7, DENIED(EPERM) },
        { "SOCK_PACKET", SYS_socket, { AF_INET, SOCK_PACKET, 0x300 }, 7, DENIED(EPERM) },
        { "sctp, seq", SYS_socket, { AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP }, 7, DENIED(EPERM) },
        { "sctp", SYS_socket, { AF_INET, SOCK_STREAM, IPPROTO_SCTP }, 7, DENIED(EPROTONOSUPPORT) },
        { "mptcp", SYS_socket, { AF_INET, SOCK_STREAM, IPPROTO_MPTCP }, 7, DENIED(EPROTONOSUPPORT) },
        { "mptcp6", SYS_socket, { AF_INET6, SOCK_STREAM, IPPROTO_MPTCP }, 7, DENIED(EPROTONOSUPPORT) },
        { "smc", SYS_socket, { AF_INET, SOCK_STREAM, 256 }, 7, DENIED(EPROTONOSUPPORT) },
        { "udplite", SYS_socket, { AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE }, 7, DENIED(EPROTONOSUPPORT) },
        { "l2tp", SYS_socket, { AF_INET, SOCK_DGRAM, 115 }, 7, DENIED(EPROTONOSUPPORT) },
        { "icmp on 6", SYS_socket, { AF_INET6, SOCK_DGRAM, IPPROTO_ICMP }, 7, DENIED(EPROTONOSUPPORT) },
        { "route", SYS_socket, { AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE }, 7, PASSES(0) },
        { "audit", SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_AUDIT }, 7, DENIED(EPROTONOSUPPORT) },
        { "netfilter", SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER }, 7, DENIED(EPROTONOSUPPORT) },
        { "xfrm", SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_XFRM }, 7, DENIED(EPROTONOSUPPORT) },
        { "genl", SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_GENERIC }, 7, DENIED(EPROTONOSUPPORT) },
        { "uevent", SYS_socket, { AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT }, 7, DENIED(EPROTONOSUPPORT) },
        { "TCP_NODELAY", SYS_setsockopt, { -1, IPPROTO_TCP, TCP_NODELAY }, 7, PASSES(EBADF) },
        { "SO_31", SYS_setsockopt, { -1, SOL_SOCKET, TCP_ULP }, 7, PASSES(EBADF) },
        { "TCP_ULP", SYS_setsockopt, { -1, IPPROTO_TCP, TCP_ULP }, 7, DENIED(ENOPROTOOPT) },

        /* personality; what passes is the default, or asks */
        { "ask", SYS_personality, { 0xffffffff }, 1, PASSES(0) },
        { "PER_LINUX", SYS_personality, { 0 }, 1, PASSES(0) },
        { "no randomize", SYS_personality, { ADDR_NO_RANDOMIZE }, 1, PASSES(0) },
        { "READ_IMPLIES_EXEC", SYS_personality, { READ_IMPLIES_EXEC }, 1, DENIED(EPERM) },
        { "both", SYS_personality, { READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE }, 1, DENIED(EPERM) },
        { "MMAP_PAGE_ZERO", SYS_personality, { MMAP_PAGE_ZERO }, 1, DENIED(EPERM) },
        { "PER_SVR4", SYS_personality, { PER_SVR4 }, 1, DENIED(EPERM) },
        { "all but one bit", SYS_personality, { 0xfffffffe }, 1, DENIED(EPERM) },

        /* the rest; no process has number 2^31 - 1 */
        { "seize", SYS_ptrace, { PTRACE_SEIZE, INT32_MAX, 0, 1 }, 0, PASSES(ESRCH) },
        { "seize, off", SYS_ptrace, { PTRACE_SEIZE, INT32_MAX, 0, 1U << 21 }, 0, DENIED(EPERM) },
        { "seize, off +", SYS_ptrace, { PTRACE_SEIZE, INT32_MAX, 0, 1U << 21 | 1 }, 0, DENIED(EPERM) },
        { "options, off", SYS_ptrace, { PTRACE_SETOPTIONS, INT32_MAX, 0, 1U << 21 }, 0, DENIED(EPERM) },
        { "poke 1 << 21", SYS_ptrace, { PTRACE_POKEDATA, INT32_MAX, 0, 1U << 21 }, 0, PASSES(ESRCH) },
        { "subreaper", SYS_prctl, { PR_GET_CHILD_SUBREAPER, 0 }, 1, PASSES(EFAULT) },
        { "sched core", SYS_prctl, { PR_SCHED_CORE, 1 }, 1, DENIED(EINVAL) },
        { "MADV_DONTNEED", SYS_madvise, { 0, 0, MADV_DONTNEED }, 4, PASSES(0) },
        { "MADV_MERGEABLE", SYS_madvise, { 0, 0, MADV_MERGEABLE }, 4, DENIED(EINVAL) },

        /* set-id: modes. AT_FDCWD does not matter, the path is absolute. */
        { "fchmod 755", SYS_fchmod, { -1, 00755 }, 3, PASSES(EBADF), NOSUID },
        { "fchmod sticky", SYS_fchmod, { -1, 01777 }, 3, PASSES(EBADF), NOSUID },
        { "fchmod u+s", SYS_fchmod, { -1, 04755 }, 3, DENIED(EPERM), NOSUID },
        { "fchmod g+s", SYS_fchmod, { -1, 02755 }, 3, DENIED(EPERM), NOSUID },
        { "fchmodat 755", SYS_fchmodat, { 0, NOWHERE, 00755 }, 4, PASSES(ENOENT), NOSUID },
        { "fchmodat u+s", SYS_fchmodat, { 0, NOWHERE, 04000 }, 4, DENIED(EPERM), NOSUID },
        { "fchmodat ug+s", SYS_fchmodat, { 0, NOWHERE, 06777 }, 4, DENIED(EPERM), NOSUID },
        { "fchmodat2 755", NR_fchmodat2, { 0, NOWHERE, 00755 }, 4, PASSES(VARIES), NOSUID },
        { "fchmodat2 g+s", NR_fchmodat2, { 0, NOWHERE, 02000 }, 4, DENIED(EPERM), NOSUID },
        { "mknodat 644", SYS_mknodat, { 0, NOWHERE, 00644 }, 4, PASSES(ENOENT), NOSUID },
        { "mknodat u+s", SYS_mknodat, { 0, NOWHERE, 04755 }, 4, DENIED(EPERM), NOSUID },
        { "mkdirat g+s", SYS_mkdirat, { 0, NOWHERE, 02755 }, 4, PASSES(ENOENT), NOSUID },

        /* set-id: open. Without creation the mode is noise. */
        { "openat noise", SYS_openat, { 0, NOWHERE, O_RDONLY, 04755 }, 12, PASSES(ENOENT), NOSUID },
        { "openat noise, directory", SYS_openat, { 0, NOWHERE, O_DIRECTORY, 04755 }, 12, PASSES(ENOENT), NOSUID },
        { "openat create", SYS_openat, { 0, NOWHERE, O_CREAT | O_WRONLY, 00644 }, 12, PASSES(ENOENT), NOSUID },
        { "openat u+s", SYS_openat, { 0, NOWHERE, O_CREAT | O_WRONLY, 04755 }, 12, DENIED(EPERM), NOSUID },
        { "openat g+s", SYS_openat, { 0, NOWHERE, O_CREAT | O_EXCL | O_WRONLY, 02755 }, 12, DENIED(EPERM), NOSUID },
        { "openat tmpfile u+s", SYS_openat, { 0, NOWHERE, O_TMPFILE | O_WRONLY, 04755 }, 12, DENIED(EPERM), NOSUID },
        { "openat tmpfile bit", SYS_openat, { 0, NOWHERE, KERNEL_O_TMPFILE, 02000 }, 12, DENIED(EPERM), NOSUID },
        { "openat2", SYS_openat2, { 0, NOWHERE, 0, 0 }, 0, DENIED(ENOSYS), NOSUID },
        { "openat2 plain", SYS_openat2, { 0, NOWHERE, 0, 0 }, 0, PASSES(EINVAL) },
        { "setxattr", SYS_setxattr, { NOWHERE }, 0, DENIED(EOPNOTSUPP), NOSUID },
        { "lsetxattr", SYS_lsetxattr, { NOWHERE }, 0, DENIED(EOPNOTSUPP), NOSUID },
        { "fsetxattr", SYS_fsetxattr, { -1 }, 0, DENIED(EOPNOTSUPP), NOSUID },
        { "setxattrat", NR_setxattrat, { 0, NOWHERE }, 0, DENIED(EOPNOTSUPP), NOSUID },
        { "fchmod u+s plain", SYS_fchmod, { -1, 04755 }, 3, PASSES(EBADF) },

#ifdef __x86_64__
        { "chmod 644", SYS_chmod, { NOWHERE, 00644 }, 2, PASSES(ENOENT), NOSUID },
        { "chmod u+s", SYS_chmod, { NOWHERE, 04755 }, 2, DENIED(EPERM), NOSUID },
        { "chmod g+s", SYS_chmod, { NOWHERE, 02755 }, 2, DENIED(EPERM), NOSUID },
        { "creat 644", SYS_creat, { NOWHERE, 00644 }, 2, PASSES(ENOENT), NOSUID },
        { "creat u+s", SYS_creat, { NOWHERE, 04755 }, 2, DENIED(EPERM), NOSUID },
        { "mknod u+s", SYS_mknod, { NOWHERE, 04755 }, 2, DENIED(EPERM), NOSUID },
        { "open noise", SYS_open, { NOWHERE, O_RDWR, 06000 }, 6, PASSES(ENOENT), NOSUID },
        { "open u+s", SYS_open, { NOWHERE, O_CREAT | O_RDWR, 04755 }, 6, DENIED(EPERM), NOSUID },
        { "open tmpfile g+s", SYS_open, { NOWHERE, O_TMPFILE | O_RDWR, 02755 }, 6, DENIED(EPERM), NOSUID },
#endif
};
/* clang-format on */

/* What may stand in the upper half of a register that holds an int. */
static const uint64_t upper_halves[] = { 0, UINT64_C(1) << 32, UINT64_C(1) << 63,
        UINT64_C(0xffffffff) << 32 };

static void attempt_args(const Attempt *attempt, uint64_t upper, uint64_t ret[static 6]) {
        for (unsigned i = 0; i < 6; i++)
                ret[i] = attempt->ints & (1U << i) ? (uint32_t) attempt->args[i] | upper : attempt->args[i];
}

static void test_arguments(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(attempts); i++)
                for (size_t k = 0; k < ELEMENTSOF(upper_halves); k++) {
                        const Attempt *a = attempts + i;
                        uint32_t expected = a->denied ? SECCOMP_RET_ERRNO | (uint32_t) a->denied
                                                      : SECCOMP_RET_ALLOW;
                        uint64_t args[6];

                        attempt_args(a, upper_halves[k], args);
                        assert_verdict(a->what, verdict_on(a->flags, ARCH_OURS, (uint32_t) a->nr, args),
                                        expected);
                        if (a->flags == 0) /* the longer filter is not weaker */
                                assert_true(verdict_on(SECCOMP_NOSUID, ARCH_OURS, (uint32_t) a->nr, args) ==
                                                                expected ||
                                                a->nr == SYS_openat2 || a->nr == SYS_fchmod);
                }
}

static void test_every_family_and_protocol(void **state) {
        for (uint64_t n = 0; n < 70000; n++) {
                const uint64_t family[6] = { n, SOCK_STREAM, 0 }, netlink[6] = { AF_NETLINK, SOCK_RAW, n },
                               type[6] = { AF_INET, n, 0 };
                bool known = n == AF_UNIX || n == AF_INET || n == AF_INET6 || n == AF_NETLINK;
                bool stream = (n & 0xf) == SOCK_STREAM || (n & 0xf) == SOCK_DGRAM;

                assert_verdict("family", verdict_on(0, ARCH_OURS, SYS_socket, family),
                                known ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EAFNOSUPPORT);
                assert_verdict("netlink", verdict_on(0, ARCH_OURS, SYS_socket, netlink),
                                n == NETLINK_ROUTE ? SECCOMP_RET_ALLOW
                                                   : SECCOMP_RET_ERRNO | EPROTONOSUPPORT);
                assert_verdict("type", verdict_on(0, ARCH_OURS, SYS_socket, type),
                                stream ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
        }
}

/* In the kernel. */

/* Returns the wait status. A new session: nothing the child manages to do reaches a terminal. */
static int run_in_child(int (*function)(void *), void *userdata) {
        int status;
        pid_t pid;

        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void) setsid();
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) prctl(PR_SET_DUMPABLE, 0); /* no core files of those who are killed */
                _exit(function(userdata));
        }

        assert_int_equal(TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)), pid);
        return status;
}

static void assert_exited(int status, int code) {
        if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
                fail_msg("wait status 0x%x, not exit %d", (unsigned) status, code);
}

static int load(SeccompFlags flags) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return seccomp_load(flags);
}

typedef struct Tries {
        SeccompFlags flags;
        int results[ELEMENTSOF(attempts) + ELEMENTSOF(closed) + ELEMENTSOF(not_there)]
                   [ELEMENTSOF(upper_halves)];
} Tries;

/* 0 or errno of one call; what it opened or started is gone again. */
static int try_call(long nr, const uint64_t args[static 6]) {
        long r = syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);

        if (r < 0)
                return errno;
        if (nr == SYS_clone && r == 0)
                _exit(EXIT_SUCCESS);
        if (nr == SYS_clone)
                (void) waitpid((pid_t) r, NULL, __WALL);
        if (nr == SYS_socket)
                (void) close((int) r);
        return 0;
}

/* Arguments of all ones: harmless in every one of the calls, should the filter let it pass. */
static int try_all_ones(long nr) {
        return try_call(nr, ones);
}

static int try_all(void *userdata) {
        Tries *tries = userdata;
        int(*result)[ELEMENTSOF(upper_halves)] = tries->results;

        if (load(tries->flags) < 0)
                return 1;

        for (size_t i = 0; i < ELEMENTSOF(attempts); i++, result++)
                for (size_t k = 0; attempts[i].flags == tries->flags && k < ELEMENTSOF(upper_halves); k++) {
                        uint64_t args[6];

                        attempt_args(attempts + i, upper_halves[k], args);
                        (*result)[k] = try_call(attempts[i].nr, args);
                }
        for (size_t i = 0; i < ELEMENTSOF(closed); i++, result++)
                (*result)[0] = try_all_ones(closed[i].nr);
        for (size_t i = 0; i < ELEMENTSOF(not_there); i++, result++)
                (*result)[0] = try_all_ones(not_there[i].nr);
        return 0;
}

static void assert_result(const char *what, int found, int expected) {
        if (expected != VARIES && found != expected)
                fail_msg("%s: the kernel answers %d (%s), not %d (%s)", what, found, strerror(found),
                                expected, strerror(expected));
}

static void check_in_kernel(SeccompFlags flags) {
        Tries *tries = mmap(NULL, sizeof(Tries), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        int(*result)[ELEMENTSOF(upper_halves)];

        assert_true(tries != MAP_FAILED);
        tries->flags = flags;
        result = tries->results;
        for (size_t i = 0; i < ELEMENTSOF(tries->results); i++)
                for (size_t k = 0; k < ELEMENTSOF(upper_halves); k++)
                        tries->results[i][k] = TRY_LOST;

        assert_exited(run_in_child(try_all, tries), 0);

        for (size_t i = 0; i < ELEMENTSOF(attempts); i++, result++)
                for (size_t k = 0; attempts[i].flags == flags && k < ELEMENTSOF(upper_halves); k++)
                        assert_result(attempts[i].what, (*result)[k],
                                        attempts[i].denied ? attempts[i].denied : attempts[i].kernel);
        for (size_t i = 0; i < ELEMENTSOF(closed); i++, result++)
                assert_result(closed[i].name, (*result)[0], EPERM);
        for (size_t i = 0; i < ELEMENTSOF(not_there); i++, result++)
                assert_result(not_there[i].name, (*result)[0], ENOSYS);

        assert_int_equal(munmap(tries, sizeof(Tries)), 0);
}

static void test_kernel_agrees(void **state) {
        check_in_kernel(/* flags= */ 0);
}

static void test_kernel_agrees_nosuid(void **state) {
        check_in_kernel(SECCOMP_NOSUID);
}

/* Foreign calls, for real. */

#ifdef __x86_64__
static int call_i386(void *filtered) {
        unsigned long r = 20; /* getpid */

        if (filtered && load(/* flags= */ 0) < 0)
                return 1;
        __asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
        return 0;
}

static int call_x32(void *userdata) {
        if (load(/* flags= */ 0) < 0)
                return 1;
        (void) syscall(X32_BIT | SYS_getpid);
        return 0;
}

static void assert_killed(int status) {
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
                fail_msg("wait status 0x%x, not killed by SIGSYS", (unsigned) status);
}

static void test_i386_dies(void **state) {
        if (!WIFEXITED(run_in_child(call_i386, /* filtered= */ NULL))) {
                print_message("skipped: this kernel has no 32-bit calls; "
                              "boot one with CONFIG_IA32_EMULATION, without ia32_emulation=0\n");
                n_skipped++;
                skip();
        }
        assert_killed(run_in_child(call_i386, /* filtered= */ (void *) "yes"));
}

/* Whether or not the kernel has x32: the filter is asked first. */
static void test_x32_dies(void **state) {
        assert_killed(run_in_child(call_x32, NULL));
}
#endif

/* Life under the filter. */

static void *set_flag(void *flag) {
        *(bool *) flag = true;
        return NULL;
}

static int start_thread_and_shell(void *userdata) {
        bool ran = false;
        pthread_t thread;

        if (load(/* flags= */ 0) < 0)
                return 1;
        if (pthread_create(&thread, NULL, set_flag, &ran) != 0) /* libc has to fall back from clone3 */
                return 2;
        if (pthread_join(thread, NULL) != 0 || !ran)
                return 3;
        (void) execl("/bin/sh", "sh", "-c", "(exit 3) | cat; test $(echo 7) = 7 && exit 42", NULL);
        return 4;
}

static void test_thread_and_shell(void **state) {
        assert_exited(run_in_child(start_thread_and_shell, NULL), 42);
}

static int load_twice(void *userdata) {
        const uint64_t args[6] = { AF_PACKET, SOCK_RAW, 0 };

        if (load(/* flags= */ 0) < 0 || seccomp_load(SECCOMP_NOSUID) < 0)
                return 1;
        return try_call(SYS_socket, args) == EAFNOSUPPORT && try_all_ones(SYS_openat2) == ENOSYS ? 0 : 2;
}

/* A sandbox within the sandbox. */
static void test_stacks(void **state) {
        assert_exited(run_in_child(load_twice, NULL), 0);
}

/* A mode that must not be there afterwards; 0 when none of the ways left one. */
static int leave_setid_files(void *flags) {
        struct stat st = { 0 };
        int fd;

        if (load((SeccompFlags) (uintptr_t) flags) < 0)
                return 1;

        (void) umask(0);
        fd = open("a", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755);
        if (fd < 0 || fchmod(fd, 0700) < 0)
                return 2;
        if (fchmod(fd, 06755) == 0 || fchmodat(AT_FDCWD, "a", 06755, 0) == 0 || chmod("a", 06755) == 0 ||
                        syscall(NR_fchmodat2, AT_FDCWD, "a", 06755, 0) == 0)
                return 3;
        if (fstat(fd, &st) < 0 || (st.st_mode & (S_ISUID | S_ISGID)))
                return 4;

        if (open("b", O_CREAT | O_WRONLY | O_CLOEXEC, 04755) >= 0 || creat("c", 02755) >= 0 ||
                        mknod("d", S_IFREG | 04755, 0) >= 0)
                return 5;
        fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 04755);
        if (fd >= 0)
                return 6;
        return 0;
}

static void run_setid_in_new_directory(SeccompFlags flags, int expected) {
        char path[] = "/tmp/test-seccomp.XXXXXX";
        int cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), status;

        assert_true(cwd >= 0);
        assert_non_null(mkdtemp(path));
        assert_int_equal(chdir(path), 0);
        status = run_in_child(leave_setid_files, (void *) (uintptr_t) flags);
        for (const char *name = "abcd"; *name; name++)
                (void) unlink((char[]) { *name, '\0' });
        assert_int_equal(fchdir(cwd), 0);
        assert_int_equal(rmdir(path), 0);
        (void) close(cwd);

        assert_exited(status, expected);
}

static void test_no_setid_file_is_left(void **state) {
        run_setid_in_new_directory(SECCOMP_NOSUID, 0);
        run_setid_in_new_directory(/* flags= */ 0, 3); /* what the flag is for: without it chmod does it */
}

/* A zygote's. As root of the host, who could be anybody. */

static int errno_of(long r) {
        return r < 0 ? errno : 0;
}

static int be_a_zygote(void *userdata) {
        const struct {
                int found, wanted;
        } results[] = {
                { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : -seccomp_load_zygote(), 0 },
                { errno_of(syscall(SYS_setuid, 0)), EPERM },
                { errno_of(syscall(SYS_setuid, 0x40000000)), EPERM },
                { errno_of(syscall(SYS_setgid, 1000)), EPERM },
                { errno_of(syscall(SYS_setreuid, -1, 0)), EPERM },
                { errno_of(syscall(SYS_setregid, 0, 0)), EPERM },
                { errno_of(syscall(SYS_setfsuid, 0)), EPERM },
                { errno_of(syscall(SYS_setfsgid, 0)), EPERM },
                { errno_of(syscall(SYS_setgroups, 0, NULL)), EPERM },
                { errno_of(syscall(SYS_setresuid, 0, 0, 0)), EPERM },
                { errno_of(syscall(SYS_setresuid, 1000, 1000, 1000)), EPERM },
                { errno_of(syscall(SYS_setresuid, 0x40000000, 0x40000000, 0)), EPERM },
                { errno_of(syscall(SYS_setresuid, -1, 0x40000000, -1)), EPERM },
                { errno_of(syscall(SYS_setresuid, 0x80000000, 0x80000000, 0x80000000)), EPERM },
                { errno_of(syscall(SYS_setresgid, 0x3fffffff, 0x40000000, 0x40000000)), EPERM },
                { errno_of(syscall(SYS_unshare, CLONE_NEWNS)), EPERM },
                { errno_of(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL)), EPERM },
                { errno_of(syscall(SYS_keyctl, 0, 0, 0)), EPERM },
                { errno_of(syscall(SYS_setns, -1, 0)), EBADF },
                { errno_of(syscall(SYS_setresgid, 0x40001000, 0x40001000, 0x40001000)), geteuid() == 0 ? 0 : EPERM },
                { errno_of(syscall(SYS_setresuid, 0x40001000, 0x40001000, 0x40001000)), getgid() == 0x40001000 ? 0 : EPERM },
        };

        for (size_t i = 0; i < ELEMENTSOF(results); i++)
                if (results[i].found != results[i].wanted)
                        return 100 + (int) i;
        return 0;
}

static void test_zygote(void **state) {
        assert_exited(run_in_child(be_a_zygote, NULL), 0);
}

/* … and what its child becomes: told what the kernel would tell. */
static int be_settled(void *userdata) {
        const uid_t uid = getuid();
        const gid_t gid = getgid();
        const struct {
                int found, wanted;
        } results[] = {
                { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : -seccomp_load_zygote(), 0 },
                { -seccomp_load_settled(uid, gid), 0 },
                { -seccomp_load(0), 0 },
                { errno_of(syscall(SYS_setuid, uid)), 0 },
                { errno_of(syscall(SYS_setuid, uid + 1)), EPERM },
                { errno_of(syscall(SYS_setgid, gid)), 0 },
                { errno_of(syscall(SYS_setgid, gid + 1)), EPERM },
                { errno_of(syscall(SYS_setreuid, -1, uid)), 0 },
                { errno_of(syscall(SYS_setreuid, uid + 1, -1)), EPERM },
                { errno_of(syscall(SYS_setregid, gid, -1)), 0 },
                { errno_of(syscall(SYS_setregid, -1, gid + 1)), EPERM },
                { errno_of(syscall(SYS_setresuid, uid, -1, uid)), 0 },
                { errno_of(syscall(SYS_setresuid, -1, -1, -1)), 0 },
                { errno_of(syscall(SYS_setresuid, uid, uid, uid + 1)), EPERM },
                { errno_of(syscall(SYS_setresuid, uid + 1, uid, uid)), EPERM },
                { errno_of(syscall(SYS_setresgid, gid, gid, gid)), 0 },
                { errno_of(syscall(SYS_setresgid, gid, gid + 1, gid)), EPERM },
                { errno_of(syscall(SYS_setns, -1, 0)), EPERM },
                { errno_of(syscall(SYS_keyctl, 1, NULL)), EPERM },
                { (int) getuid(), (int) uid },
        };

        for (size_t i = 0; i < ELEMENTSOF(results); i++)
                if (results[i].found != results[i].wanted)
                        return 100 + (int) i;
        return 0;
}

static void test_settled(void **state) {
        assert_exited(run_in_child(be_settled, NULL), 0);
}

static int load_without_nnp(void *userdata) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
                return 1;
        return seccomp_load(/* flags= */ 0) == -EACCES ? 0 : 2;
}

static void test_needs_no_new_privs(void **state) {
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
                print_message("skipped: no_new_privs is on already; run the test from a shell without it\n");
                n_skipped++;
                skip();
        }
        assert_exited(run_in_child(load_without_nnp, NULL), 0);
}

static int probe_where_there_is_none(void *userdata) {
        static const struct sock_filter none[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = ELEMENTSOF(none), .filter = (struct sock_filter *) none };

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
                return 1;
        return seccomp_probe() == -EOPNOTSUPP && seccomp_load(/* flags= */ 0) == -ENOSYS ? 0 : 2;
}

static void test_probe(void **state) {
        assert_int_equal(seccomp_probe(), 0);
        assert_int_equal(prctl(PR_GET_SECCOMP), 0); /* it has changed nothing */
        assert_exited(run_in_child(probe_where_there_is_none, NULL), 0);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_closed_whatever_the_arguments),
                cmocka_unit_test(test_not_there),
                cmocka_unit_test(test_open),
                cmocka_unit_test(test_foreign_abi_is_killed),
                cmocka_unit_test(test_arguments),
                cmocka_unit_test(test_every_family_and_protocol),
                cmocka_unit_test(test_kernel_agrees),
                cmocka_unit_test(test_kernel_agrees_nosuid),
#ifdef __x86_64__
                cmocka_unit_test(test_i386_dies),
                cmocka_unit_test(test_x32_dies),
#endif
                cmocka_unit_test(test_zygote),
                cmocka_unit_test(test_settled),
                cmocka_unit_test(test_thread_and_shell),
                cmocka_unit_test(test_stacks),
                cmocka_unit_test(test_no_setid_file_is_left),
                cmocka_unit_test(test_needs_no_new_privs),
                cmocka_unit_test(test_probe),
        };

        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        return failed == 0 && n_skipped > 0 ? 77 : failed;
}
