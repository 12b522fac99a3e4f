#include "tree/confine.h"

#include <linux/capability.h>
#include <sched.h>

#include "base/macro.h"
#include "confine/caps.h"
#include "confine/filter.h"
#include "tree/options.h"
#include "tree/tree.h"

#define ACCESS_READ  (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_WRITE                                                                                         \
        (ACCESS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |                                        \
                        LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |                                        \
                        LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_REFER | LANDLOCK_TRUNCATE)

static const struct sock_filter filter[] = {
        FILTER_BEGIN,
        /* bytes */
        ALLOW(read), ALLOW(write), ALLOW(close), ALLOW(lseek), ALLOW(pread64), ALLOW(pwrite64), ALLOW(ftruncate), ALLOW(copy_file_range),
        ALLOW(ppoll), ALLOW(fcntl),
#ifdef SYS_poll
        ALLOW(poll),
#endif
        /* files below the trees, by descriptor and name */
        ALLOW(openat), ALLOW(openat2), ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(getdents64), ALLOW(readlinkat),
        ALLOW(mkdirat), ALLOW(mknodat), ALLOW(symlinkat), ALLOW(linkat), ALLOW(unlinkat), ALLOW(renameat2),
#ifdef SYS_renameat
        ALLOW(renameat),
#endif
        ALLOW(fchown), ALLOW(fchownat), ALLOW(fchmod), ALLOW(fchmodat), ALLOW(utimensat),
        ALLOW(fsetxattr), ALLOW(fgetxattr), ALLOW(flistxattr), ALLOW(fremovexattr),
        ALLOW(umask),
        /* basics of a process with a thread */
        ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(futex), ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(gettimeofday),
        ALLOW(set_robust_list), ALLOW(rseq), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(restart_syscall), ALLOW(gettid), ALLOW(sched_yield),
        ALLOW(eventfd2), ALLOW(exit), ALLOW(exit_group),
        ALLOW_UNLESS_EXEC(mmap),
        ALLOW_UNLESS_EXEC(mprotect),

        /* FICLONE, which shares the data of files; no other ioctl. */
        NUMBER_IS(ioctl, 4),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x40049409, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),

        /* Threads, but no processes. clone3 fails with ENOSYS, because its flags cannot be inspected; the C
         * library then uses clone. */
        NUMBER_IS(clone3, 1),
        ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        NUMBER_IS(clone, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),

        FILTER_END,
};

void tree_walls(const void *options, ProgramWalls *ret) {
        const TreeOptions *o = options;
        const bool writes = o->words.verb == TREE_VERB_UNPACK || o->words.verb == TREE_VERB_FLATTEN; /* into the first tree */

        *ret = (ProgramWalls) {
                .descriptors = TREES_FIRST + o->n_trees,
                .descriptors_max = 16384, /* a few for each level of nesting */
                .memory_max = UINT64_C(2) * 1024 * 1024 * 1024,
                .capabilities = CAP_BIT(CAP_CHOWN) | CAP_BIT(CAP_DAC_OVERRIDE) | CAP_BIT(CAP_FOWNER) | CAP_BIT(CAP_FSETID) | CAP_BIT(CAP_SETFCAP),
                .forbidden.files = LANDLOCK_FILES | LANDLOCK_REFER | LANDLOCK_TRUNCATE,
                /* ABI 1 cannot allow links and renames. Without Landlock, paths are still resolved below a tree (place.h). */
                .landlock_abi = 2,
                .n_rules = o->n_trees,
                .filters = { { filter, ELEMENTSOF(filter) } },
        };
        for (unsigned i = 0; i < o->n_trees; i++)
                ret->rules[i] = (LandlockRule) { .fd = TREES_FIRST + (int) i, .access = i == 0 && writes ? ACCESS_WRITE : ACCESS_READ };
}
