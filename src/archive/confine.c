#include "archive/confine.h"

#include "base/macro.h"
#include "confine/filter.h"

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

void archive_walls(const void *options, ProgramWalls *ret) {
        *ret = (ProgramWalls) {
                .descriptors = 5,      /* the stream, errors, the worker, a list */
                .descriptors_max = 16, /* plus those that come with messages */
                .memory_max = UINT64_C(512) * 1024 * 1024,
                .no_children = true,
                .forbidden.files = LANDLOCK_FILES, /* no rule; a kernel without Landlock still has the filter */
                .filters = { { filter, ELEMENTSOF(filter) } },
        };
}
