#include "confine/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAP_SCAN_MAX 63 /* the kernel reports where its own list ends */

uint64_t caps_guest_root(void) {
        return CAP_BIT(CAP_CHOWN) |            /* dpkg, tar, install */
               CAP_BIT(CAP_DAC_OVERRIDE) |     /* root expects to read what it owns by map */
               CAP_BIT(CAP_FOWNER) |           /* chmod, utimes on files of other guest ids */
               CAP_BIT(CAP_FSETID) |           /* keep set-id bits when dpkg unpacks; mounts are nosuid */
               CAP_BIT(CAP_KILL) |             /* root stops the guest's daemons */
               CAP_BIT(CAP_NET_BIND_SERVICE) | /* port 80 on the sandbox's own loopback */
               CAP_BIT(CAP_SETFCAP) |          /* dpkg unpacks ping & co.; without effect under no_new_privs */
               CAP_BIT(CAP_SETGID) |           /* apt and daemons drop to their own users */
               CAP_BIT(CAP_SETPCAP) |          /* drop further */
               CAP_BIT(CAP_SETUID) |           /* su, apt's _apt */
               CAP_BIT(CAP_SYS_CHROOT);        /* debootstrap, build tools; the root directory is the topmost mount, chroot leads nowhere else */
        /* Left out on purpose: SYS_ADMIN, SYS_PTRACE (would open PID 1), NET_ADMIN, NET_RAW, MKNOD,
         * SYS_RESOURCE (would lift rlimits), SYS_TIME, SYS_BOOT, SYS_MODULE, SYS_RAWIO, BPF, PERFMON, SYSLOG,
         * AUDIT_*, MAC_*, LINUX_IMMUTABLE, IPC_LOCK, IPC_OWNER, LEASE, WAKE_ALARM, BLOCK_SUSPEND,
         * CHECKPOINT_RESTORE, SYS_NICE, SYS_PACCT, SYS_TTY_CONFIG, DAC_READ_SEARCH (open_by_handle_at). */
}

uint64_t caps_init(void) {
        /* PID 1 has SYS_PTRACE because every guest lacks it: the kernel lets no process trace one that has a
         * capability the tracer lacks. */
        return caps_guest_root() | CAP_BIT(CAP_SYS_PTRACE);
}

int caps_drop_bounding(uint64_t have, uint64_t keep) {
        for (unsigned cap = 0; cap <= CAP_SCAN_MAX; cap++) {
                if (!(have & ~keep & CAP_BIT(cap)))
                        continue;
                if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
                        return errno == EINVAL && cap > CAP_LAST_CAP ? 0 : -errno;
        }
        return 0;
}

static int set_all(uint64_t set, uint64_t inheritable) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2] = {
                { .effective = (uint32_t) set,         .permitted = (uint32_t) set,         .inheritable = (uint32_t) inheritable         },
                { .effective = (uint32_t) (set >> 32), .permitted = (uint32_t) (set >> 32), .inheritable = (uint32_t) (inheritable >> 32) },
        };

        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
                return -errno;
        if (syscall(SYS_capset, &header, data) < 0)
                return -errno;
        return 0;
}

int caps_set(uint64_t set) {
        return set_all(set, /* inheritable= */ 0);
}

int caps_set_kept(uint64_t set) {
        int r = set_all(set, set);

        for (unsigned cap = 0; cap <= CAP_SCAN_MAX && r >= 0; cap++)
                if ((set & CAP_BIT(cap)) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
                        r = -errno;
        return r;
}
