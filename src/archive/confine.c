#include "archive/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "confine/caps.h"

#define DESCRIPTORS_MAX  16 /* and those that come with messages */
#define MEMORY_MAX       (UINT64_C(512) * 1024 * 1024)

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

#define LANDLOCK_FS_ALL ((UINT64_C(1) << 13) - 1) /* what the first version can forbid; seccomp forbids the rest as well */

static int limit(int resource, rlim_t value) {
        return setrlimit(resource, &(struct rlimit) { .rlim_cur = value, .rlim_max = value }) < 0 ? -errno : 0;
}

static unsigned n_kept; /* the stream, errors, the worker, a list */

static int confine_descriptors(void) {
        return kernel_close_range(n_kept, ~0u, 0) < 0 ? -errno : 0;
}

static int confine_limits(void) {
        int r = limit(RLIMIT_CORE, 0);

        if (r >= 0)
                r = limit(RLIMIT_NPROC, 0);
        if (r >= 0)
                r = limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
        if (r >= 0 && !SANITIZED) /* a sanitizer's shadow alone is larger */
                r = limit(RLIMIT_AS, MEMORY_MAX);
        return r;
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

/* No rule: nothing is allowed. A kernel without it still has the filter below. */
static int confine_files(void) {
        uint64_t handled = LANDLOCK_FS_ALL;
        _cleanup_close_ int ruleset = (int) syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);

        if (ruleset < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

#define LOAD(field)      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action)   BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW(name)      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
#define NUMBER_IS(name)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4)

static int confine_calls(void) {
        static const struct sock_filter filter[] = {
                LOAD(arch),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
                ANSWER(SECCOMP_RET_KILL_PROCESS),
                LOAD(nr),

                ALLOW(read), ALLOW(write), ALLOW(lseek), ALLOW(close), ALLOW(fstat),
                ALLOW(recvmsg), ALLOW(sendmsg),
                ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise),
                ALLOW(futex), ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(gettimeofday),
                ALLOW(restart_syscall), ALLOW(rt_sigreturn), ALLOW(exit), ALLOW(exit_group),

                /* Memory, but none that can be executed. */
                NUMBER_IS(mmap),
                LOAD(args[2]),
                BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
                ANSWER(SECCOMP_RET_ALLOW),
                LOAD(nr),

                ANSWER(SECCOMP_RET_ERRNO | EPERM),
        };
        const struct sock_fprog program = {
                .len = ELEMENTSOF(filter),
                .filter = (struct sock_filter *) filter, /* the kernel only reads it */
        };

        if (SANITIZED) /* sanitizers map, print and look around as they like */
                return 0;
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

static const struct {
        const char *name;
        int (*function)(void);
} steps[] = {
        { "descriptors", confine_descriptors },
        { "limits",      confine_limits      },
        { "privileges",  confine_privileges  }, /* no_new_privs, which the next two ask for */
        { "files",       confine_files       },
        { "calls",       confine_calls       }, /* last: it forbids what the others use */
};

int archive_confine(unsigned n_descriptors, Error *reterr) {
        n_kept = n_descriptors;
        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                int r = steps[i].function();
                if (r < 0)
                        return error_set(reterr, r, "cannot shut itself in (%s): %m", steps[i].name);
        }
        return 0;
}
