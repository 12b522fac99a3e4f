#include "confine/program.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "confine/caps.h"

int program_limit(int resource, uint64_t value) {
        return setrlimit(resource, &(struct rlimit) { .rlim_cur = value, .rlim_max = value }) < 0 ? -errno : 0;
}

static int permitted(uint64_t *ret) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2] = { 0 };

        if (syscall(SYS_capget, &header, data) < 0)
                return -errno;
        *ret = data[0].permitted | (uint64_t) data[1].permitted << 32;
        return 0;
}

int program_drop_privileges(uint64_t keep) {
        uint64_t have = 0;
        int r;

        if (geteuid() == 0) {
                r = caps_drop_bounding(CAPS_ALL, keep);
                if (r < 0 && r != -EPERM)
                        return r;
        }
        r = permitted(&have);
        if (r < 0)
                return r;
        r = caps_set(have & keep);
        if (r < 0)
                return r;
        if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return 0;
}

int program_filter(const struct sock_filter *filter, size_t n) {
        const struct sock_fprog program = {
                .len = (unsigned short) n,
                .filter = (struct sock_filter *) filter, /* the kernel only reads it */
        };

        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

int program_confine(const ProgramStep *steps, size_t n, Error *reterr) {
        for (size_t i = 0; i < n; i++) {
                int r = steps[i].function();
                if (r < 0)
                        return error_set(reterr, r, "cannot shut itself in (%s): %m", steps[i].name);
        }
        return 0;
}
