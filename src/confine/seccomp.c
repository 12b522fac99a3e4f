#include "confine/seccomp.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#include "base/macro.h"
#include "confine/filter.h"
#include "seccomp-filters.h"

#define X32_BIT 0x40000000
#define WHEN_NOT(test, value, skip) BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), 0, (skip))

/* The flags of clone are the lower half of its first argument. With CLONE_THREAD it makes a thread, and the kernel
 * enforces the other flags that threads require. The flags of clone3 are behind a pointer, which a filter cannot
 * read: it fails, and every libc falls back to clone. */
static const struct sock_filter no_processes[] = {
        FILTER_BEGIN,
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

/* The kernel only reads the program; its type for it is older than const. */
int seccomp_load_filter(const struct sock_filter *filter, size_t n) {
        const struct sock_fprog program = { .len = (unsigned short) n, .filter = (struct sock_filter *) filter };

        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

int seccomp_load_no_processes(void) {
        return seccomp_load_filter(no_processes, ELEMENTSOF(no_processes));
}

int seccomp_load(SeccompFlags flags) {
        return flags & SECCOMP_NOSUID ? seccomp_load_filter(seccomp_filter_nosuid, ELEMENTSOF(seccomp_filter_nosuid)) :
                                        seccomp_load_filter(seccomp_filter, ELEMENTSOF(seccomp_filter));
}

int seccomp_load_zygote(void) {
        return seccomp_load_filter(seccomp_filter_zygote, ELEMENTSOF(seccomp_filter_zygote));
}

/* Tests one argument for our id or "unchanged"; otherwise jumps over `left` instructions. */
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

/* An errno of 0 means success without the call. If several filters answer with an errno, that of the newest counts. */
int seccomp_load_settled(uid_t uid, gid_t gid) {
        const struct sock_filter filter[] = {
                FILTER_BEGIN,
                ONE(setuid, uid),
                ONE(setgid, gid),
                TWO(setreuid, uid),
                TWO(setregid, gid),
                THREE(setresuid, uid),
                THREE(setresgid, gid),
                ANSWER(SECCOMP_RET_ALLOW),
        };

        return seccomp_load_filter(filter, ELEMENTSOF(filter));
}

int seccomp_probe(void) {
        static const uint32_t actions[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW };

        /* A kernel with filters gets as far as reading the missing program, and fails with EFAULT. */
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) >= 0 || errno != EFAULT)
                return -EOPNOTSUPP;

        for (size_t i = 0; i < ELEMENTSOF(actions); i++)
                if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, actions + i) < 0)
                        return -EOPNOTSUPP;
        return 0;
}
