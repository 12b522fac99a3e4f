#include "confine/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
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

int seccomp_load(SeccompFlags flags) {
        const struct sock_fprog *p = flags & SECCOMP_NOSUID ? &program_nosuid : &program;

        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, p) < 0)
                return -errno;
        return 0;
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
