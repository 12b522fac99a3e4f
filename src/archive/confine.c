#include "archive/confine.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "confine/program.h"

#define DESCRIPTORS_MAX  16 /* and those that come with messages */
#define MEMORY_MAX       (UINT64_C(512) * 1024 * 1024)

#define LANDLOCK_FS_ALL ((UINT64_C(1) << 13) - 1) /* what the first version can forbid; seccomp forbids the rest as well */

static unsigned n_kept; /* the stream, errors, the worker, a list */

static int archive_confine_descriptors(void) {
        return kernel_close_range(n_kept, ~0u, 0) < 0 ? -errno : 0;
}

static int archive_confine_limits(void) {
        int r = program_limit(RLIMIT_CORE, 0);

        if (r >= 0)
                r = program_limit(RLIMIT_NPROC, 0);
        if (r >= 0)
                r = program_limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
        if (r >= 0 && !PROGRAM_SANITIZED) /* a sanitizer's shadow alone is larger */
                r = program_limit(RLIMIT_AS, MEMORY_MAX);
        return r;
}

static int archive_confine_privileges(void) {
        return program_drop_privileges(/* keep= */ 0);
}

/* No rule: nothing is allowed. A kernel without it still has the filter below. */
static int archive_confine_files(void) {
        uint64_t handled = LANDLOCK_FS_ALL;
        _cleanup_close_ int ruleset = (int) syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);

        if (ruleset < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

static const struct sock_filter filter[] = {
        FILTER_BEGIN,
        ALLOW(read), ALLOW(write), ALLOW(lseek), ALLOW(close), ALLOW(fstat),
        ALLOW(recvmsg), ALLOW(sendmsg),
        ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise),
        ALLOW(futex), ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(gettimeofday),
        ALLOW(restart_syscall), ALLOW(rt_sigreturn), ALLOW(exit), ALLOW(exit_group),
        ALLOW_UNLESS_EXEC(mmap),
        FILTER_END,
};

static int archive_confine_calls(void) {
        /* sanitizers map, print and look around as they like */
        return PROGRAM_SANITIZED ? 0 : program_filter(filter, ELEMENTSOF(filter));
}

static const ProgramStep steps[] = {
        { "descriptors", archive_confine_descriptors },
        { "limits",      archive_confine_limits      },
        { "privileges",  archive_confine_privileges  }, /* no_new_privs, which the next two ask for */
        { "files",       archive_confine_files       },
        { "calls",       archive_confine_calls       }, /* last: it forbids what the others use */
};

int archive_confine(unsigned n_descriptors, Error *reterr) {
        n_kept = n_descriptors;
        return program_confine(steps, ELEMENTSOF(steps), reterr);
}
