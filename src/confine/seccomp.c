#include "confine/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "seccomp-filters.h"

/* The kernel only reads the programs; its type for them is older than const. */
static const struct sock_fprog program = {
        .len = ELEMENTSOF(seccomp_filter),
        .filter = (struct sock_filter *) seccomp_filter,
};
static const struct sock_fprog program_nosuid = {
        .len = ELEMENTSOF(seccomp_filter_nosuid),
        .filter = (struct sock_filter *) seccomp_filter_nosuid,
};

static const struct sock_fprog program_zygote = {
        .len = ELEMENTSOF(seccomp_filter_zygote),
        .filter = (struct sock_filter *) seccomp_filter_zygote,
};

#ifdef __x86_64__
#define OUR_ABI AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ABI AUDIT_ARCH_AARCH64
#else
#error "Which AUDIT_ARCH_ is this?"
#endif

#define X32_BIT 0x40000000
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define WHEN_NOT(test, value, skip) BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), 0, (skip))

/* Flags of clone are the lower half of its first argument; with CLONE_THREAD it makes a thread, and the kernel sees to it that it
 * shares all that threads share. Those of clone3 are behind a pointer: every libc then takes clone. */
static const struct sock_filter no_processes[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ABI, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS), /* its numbers mean other calls */
        LOAD(nr),
        WHEN_NOT(BPF_JGE, X32_BIT, 1),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
#ifdef SYS_fork
        WHEN_NOT(BPF_JEQ, SYS_fork, 1),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
#endif
#ifdef SYS_vfork
        WHEN_NOT(BPF_JEQ, SYS_vfork, 1),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
#endif
        WHEN_NOT(BPF_JEQ, SYS_clone3, 1),
        ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        WHEN_NOT(BPF_JEQ, SYS_clone, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
        ANSWER(SECCOMP_RET_ALLOW),
};

static const struct sock_fprog program_no_processes = {
        .len = ELEMENTSOF(no_processes),
        .filter = (struct sock_filter *) no_processes,
};

static int confine_seccomp_load(const struct sock_fprog *p) {
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, p) < 0 ? -errno : 0;
}

int seccomp_load_no_processes(void) {
        return confine_seccomp_load(&program_no_processes);
}

int seccomp_load(SeccompFlags flags) {
        return confine_seccomp_load(flags & SECCOMP_NOSUID ? &program_nosuid : &program);
}

int seccomp_load_zygote(void) {
        return confine_seccomp_load(&program_zygote);
}

/* One argument: ours, or "as it is"; else on to the next instruction but `left`. */
#define IS_OURS(member, id, left)                                                                            \
        LOAD(member),                                                                                        \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (id), 1, 0),                                                     \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 0, (left))
#define ONE(call, id)                                                                                        \
        WHEN_NOT(BPF_JEQ, SYS_##call, 4),                                                                    \
        LOAD(args[0]),                                                                                       \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (id), 0, 1),                                                     \
        ANSWER(SECCOMP_RET_ERRNO),                                                                           \
        ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define TWO(call, id)                                                                                        \
        WHEN_NOT(BPF_JEQ, SYS_##call, 8),                                                                    \
        IS_OURS(args[0], (id), 4),                                                                           \
        IS_OURS(args[1], (id), 1),                                                                           \
        ANSWER(SECCOMP_RET_ERRNO),                                                                           \
        ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define THREE(call, id)                                                                                      \
        WHEN_NOT(BPF_JEQ, SYS_##call, 11),                                                                   \
        IS_OURS(args[0], (id), 7),                                                                           \
        IS_OURS(args[1], (id), 4),                                                                           \
        IS_OURS(args[2], (id), 1),                                                                           \
        ANSWER(SECCOMP_RET_ERRNO),                                                                           \
        ANSWER(SECCOMP_RET_ERRNO | EPERM)

/* An errno of 0 is success without the call. Where several filters answer with an errno, that of the newest counts. */
int seccomp_load_settled(uid_t uid, gid_t gid) {
        const struct sock_filter filter[] = {
                LOAD(arch),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ABI, 1, 0),
                ANSWER(SECCOMP_RET_KILL_PROCESS),
                LOAD(nr),
                ONE(setuid, uid),
                ONE(setgid, gid),
                TWO(setreuid, uid),
                TWO(setregid, gid),
                THREE(setresuid, uid),
                THREE(setresgid, gid),
                ANSWER(SECCOMP_RET_ALLOW),
        };

        return confine_seccomp_load(&(struct sock_fprog) { .len = ELEMENTSOF(filter), .filter = (struct sock_filter *) filter });
}

int seccomp_probe(void) {
        static const uint32_t actions[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW };

        /* A kernel with filters gets as far as reading the program that is not there. */
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) >= 0 || errno != EFAULT)
                return -EOPNOTSUPP;

        for (size_t i = 0; i < ELEMENTSOF(actions); i++)
                if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, actions + i) < 0)
                        return -EOPNOTSUPP;
        return 0;
}
