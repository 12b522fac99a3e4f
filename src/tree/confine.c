#include "tree/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "confine/caps.h"
#include "confine/landlock.h"
#include "confine/program.h"

#define MEMORY_MAX      (UINT64_C(2) * 1024 * 1024 * 1024)
#define DESCRIPTORS_MAX 16384 /* a few for each level of what is nested */

#define ACCESS_REFER    (UINT64_C(1) << 13) /* ABI 2 */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14) /* ABI 3 */
#define ACCESS_ABI_1    ((UINT64_C(1) << 13) - 1)
#define ACCESS_READ     (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_WRITE                                                                                         \
        (ACCESS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |                                        \
                        LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |                                        \
                        LANDLOCK_ACCESS_FS_MAKE_FIFO | ACCESS_REFER | ACCESS_TRUNCATE)

/* of this call: steps have no arguments */
static unsigned trees;
static bool writing;

static int tree_confine_descriptors(void) {
        return kernel_close_range(TREES_FIRST + trees, ~0u, 0) < 0 ? -errno : 0;
}

static int tree_confine_limits(void) {
        struct rlimit files;
        int r = program_limit(RLIMIT_CORE, 0);

        if (r >= 0 && getrlimit(RLIMIT_NOFILE, &files) >= 0)
                r = program_limit(RLIMIT_NOFILE, MIN_OF(files.rlim_max, (rlim_t) DESCRIPTORS_MAX));
        if (r >= 0 && !PROGRAM_SANITIZED) /* a sanitizer's shadow alone is larger */
                r = program_limit(RLIMIT_AS, MEMORY_MAX);
        return r;
}

static int tree_confine_privileges(void) {
        return program_drop_privileges(CAP_BIT(CAP_CHOWN) | CAP_BIT(CAP_DAC_OVERRIDE) | CAP_BIT(CAP_FOWNER) | CAP_BIT(CAP_FSETID) |
                        CAP_BIT(CAP_SETFCAP));
}

static int allow_tree(int ruleset, int tree, uint64_t access) {
        const struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = tree };

        return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 ? -errno : 0;
}

/* The first version cannot allow what links and renames between directories need. Without it there is still that every path is
 * resolved below a tree (place.h). */
static int tree_confine_files(void) {
        int abi = landlock_probe(), r = 0;
        uint64_t handled = ACCESS_ABI_1 | ACCESS_REFER | (abi >= 3 ? ACCESS_TRUNCATE : 0);
        _cleanup_close_ int ruleset = -EBADF;

        if (abi < 2)
                return 0;
        ruleset = (int) syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
        if (ruleset < 0)
                return -errno;
        for (unsigned i = 0; i < trees && r >= 0; i++)
                r = allow_tree(ruleset, TREES_FIRST + (int) i, handled & (i == 0 && writing ? ACCESS_WRITE : ACCESS_READ));
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

static const struct sock_filter filter[] = {
        FILTER_BEGIN,
        /* bytes */
        ALLOW(read), ALLOW(write), ALLOW(close), ALLOW(lseek), ALLOW(pread64), ALLOW(pwrite64), ALLOW(ftruncate), ALLOW(copy_file_range),
        ALLOW(ppoll), ALLOW(fcntl),
#ifdef SYS_poll
        ALLOW(poll),
#endif
        /* files below the trees, by descriptors and names */
        ALLOW(openat), ALLOW(openat2), ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(getdents64), ALLOW(readlinkat),
        ALLOW(mkdirat), ALLOW(mknodat), ALLOW(symlinkat), ALLOW(linkat), ALLOW(unlinkat), ALLOW(renameat2),
#ifdef SYS_renameat
        ALLOW(renameat),
#endif
        ALLOW(fchown), ALLOW(fchownat), ALLOW(fchmod), ALLOW(fchmodat), ALLOW(utimensat),
        ALLOW(fsetxattr), ALLOW(fgetxattr), ALLOW(flistxattr), ALLOW(fremovexattr),
        ALLOW(umask),
        /* being a process with a thread */
        ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(futex), ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(gettimeofday),
        ALLOW(set_robust_list), ALLOW(rseq), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(restart_syscall), ALLOW(gettid), ALLOW(sched_yield),
        ALLOW(eventfd2), ALLOW(exit), ALLOW(exit_group),
        ALLOW_UNLESS_EXEC(mmap),
        ALLOW_UNLESS_EXEC(mprotect),

        /* Sharing what files have: FICLONE, and no other. */
        NUMBER_IS(ioctl, 4),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x40049409, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),

        /* Threads, no processes; the C library takes the older call when the newer, whose flags cannot be seen, is not there. */
        NUMBER_IS(clone3, 1),
        ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        NUMBER_IS(clone, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        LOAD(nr),

        FILTER_END,
};

static int tree_confine_calls(void) {
        /* sanitizers map, print and look around as they like */
        return PROGRAM_SANITIZED ? 0 : program_filter(filter, ELEMENTSOF(filter));
}

static const ProgramStep steps[] = {
        { "descriptors", tree_confine_descriptors },
        { "limits",      tree_confine_limits      },
        { "privileges",  tree_confine_privileges  }, /* no_new_privs, which the next two ask for */
        { "files",       tree_confine_files       },
        { "calls",       tree_confine_calls       }, /* last: it forbids what the others use */
};

int tree_confine(unsigned n_trees, bool first_is_written, Error *reterr) {
        trees = n_trees;
        writing = first_is_written;
        return program_confine(steps, ELEMENTSOF(steps), reterr);
}
