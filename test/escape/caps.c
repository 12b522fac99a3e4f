/* caps.c: capabilities, ids and the flags that keep them from coming back. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define BIT(cap)     (1ull << (cap))
#define OVERFLOW_GID 65534

/* What a package manager and a daemon that drops rights need. Everything else is the host's. */
static const unsigned long long allowed_to_root =
                BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID) | BIT(CAP_KILL) |
                BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_SETFCAP) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP) |
                BIT(CAP_SETUID) | BIT(CAP_SYS_CHROOT);

static Verdict check_set(const char *key, unsigned long long allowed) {
        unsigned long long set;

        if (!status_number(key, &set))
                return broken("no %s in /proc/self/status", key);
        return set & ~allowed ? escaped("%s is %llx, of which %llx is too much", key, set, set & ~allowed)
                              : HELD;
}

static Verdict try_bounding(char **args) {
        return check_set("CapBnd", getuid() == 0 ? allowed_to_root : 0);
}

static Verdict try_present(char **args) {
        unsigned long long allowed = getuid() == 0 ? allowed_to_root : 0;
        Verdict v = worst(check_set("CapEff", allowed), check_set("CapPrm", allowed));

        return worst(v, worst(check_set("CapInh", 0), check_set("CapAmb", 0)));
}

static Verdict try_raise(char **args) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2] = {
                {~0u,  ~0u, ~0u },
                { ~0u, ~0u, ~0u }
        };

        return refused("capset of everything", syscall(SYS_capset, &header, data));
}

static Verdict try_raise_each(char **args) {
        Verdict v = HELD;

        for (unsigned cap = 0; cap < 64; cap++) {
                struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
                struct __user_cap_data_struct data[2] = { 0 };

                if (getuid() == 0 && BIT(cap) & allowed_to_root)
                        continue;
                data[cap / 32].effective = data[cap / 32].permitted = data[cap / 32].inheritable =
                                1u << (cap % 32);
                if (syscall(SYS_capset, &header, data) == 0 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0)
                        v = escaped("capability %u was raised", cap);
        }
        return v;
}

static Verdict try_ambient(char **args) {
        Verdict v = HELD;

        for (unsigned long cap = 0; cap <= CAP_LAST_CAP; cap++)
                v = worst(v, failed("raising an ambient capability",
                                             prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0)));
        return v;
}

static Verdict try_no_new_privs(char **args) {
        int set = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);

        if (set != 1)
                return escaped("no_new_privs is %d", set);
        (void) prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
        set = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
        return set == 1 ? HELD : escaped("no_new_privs was taken back");
}

static Verdict try_seccomp_off(char **args) {
        unsigned long long mode = 0;
        Verdict v = HELD;

        if (!status_number("Seccomp", &mode) || mode != SECCOMP_MODE_FILTER)
                v = escaped("the seccomp mode is %llu", mode);
        return worst(v, failed("leaving seccomp", prctl(PR_SET_SECCOMP, SECCOMP_MODE_DISABLED, 0, 0, 0)));
}

/* A tracer may ask the kernel to look away (PTRACE_O_SUSPEND_SECCOMP). */
static Verdict try_seccomp_suspend(char **args) {
        pid_t pid = fork();
        Verdict v;

        if (pid < 0)
                return broken("fork: %m");
        if (pid == 0)
                for (;;)
                        (void) pause();
        v = refused("suspending seccomp", ptrace(PTRACE_SEIZE, pid, NULL, (void *) (uintptr_t) (1 << 21)));
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        return v;
}

static Verdict try_become_root(char **args) {
        gid_t group = 0;
        Verdict v = HELD;

        v = worst(v, failed("setuid(0)", setuid(0)));
        v = worst(v, failed("setresuid(0)", setresuid(0, 0, 0)));
        v = worst(v, failed("setreuid(-1, 0)", setreuid((uid_t) -1, 0)));
        v = worst(v, failed("setgid(0)", setgid(0)));
        v = worst(v, failed("setresgid(0)", setresgid(0, 0, 0)));
        return worst(v, failed("setgroups(0)", setgroups(1, &group)));
}

static Verdict try_unmapped(char **args) {
        static const uid_t ids[] = { 65536, 100000, 1000000, 0x40000000, 0x7ffffffe, 0xfffffffe };
        Verdict v = HELD;

        if (write_file("/tmp/owned", "") < 0)
                return broken("/tmp/owned: %m");
        for (size_t i = 0; i < ELEMENTSOF(ids); i++) {
                v = worst(v, failed("chown to an id outside of the map",
                                             chown("/tmp/owned", ids[i], ids[i])));
                v = worst(v, failed("setresgid to an id outside of the map",
                                             setresgid(ids[i], ids[i], ids[i])));
                v = worst(v, failed("setresuid to an id outside of the map",
                                             setresuid(ids[i], ids[i], ids[i])));
        }
        return v;
}

/* A supplementary group of the caller would show as the overflow id, and still open what it opens on the host. */
static Verdict try_groups(char **args) {
        gid_t groups[256];
        int n = getgroups(ELEMENTSOF(groups), groups);

        if (n < 0)
                return broken("getgroups: %m");
        for (int i = 0; i < n; i++)
                if (groups[i] == OVERFLOW_GID)
                        return escaped("a group of the host's caller was kept");
        return HELD;
}

static Verdict try_set_mm(char **args) {
        return refused("PR_SET_MM", prctl(PR_SET_MM, PR_SET_MM_START_CODE, 0x1000, 0, 0));
}

/* clang-format off */
const Attempt caps_attempts[] = {
        { "caps-bounding", try_bounding, AS_BOTH,
          "the bounding set is empty, and for guest root short: nothing can ever come back" },
        { "caps-present", try_present, AS_BOTH,
          "the user has no capability, root those of the short list" },
        { "caps-raise", try_raise, AS_BOTH,
          "what is not permitted cannot be raised" },
        { "caps-raise-each", try_raise_each, AS_BOTH,
          "nor one by one" },
        { "caps-ambient", try_ambient, AS_BOTH,
          "ambient capabilities would outlive the exec of an ordinary program" },
        { "caps-no-new-privs", try_no_new_privs, AS_BOTH,
          "no_new_privs is on and cannot be taken back" },
        { "caps-seccomp-off", try_seccomp_off, AS_BOTH,
          "the system call filter is on and cannot be taken off" },
        { "caps-seccomp-suspend", try_seccomp_suspend, AS_BOTH,
          "nor suspended by a tracer" },
        { "caps-become-root", try_become_root, AS_USER,
          "the user cannot become guest root" },
        { "caps-unmapped", try_unmapped, AS_BOTH,
          "ids outside of the sandbox's range do not exist inside" },
        { "caps-groups", try_groups, AS_BOTH,
          "the caller's supplementary groups are given up" },
        { "caps-set-mm", try_set_mm, AS_BOTH,
          "the layout of a process is not the guest's to rewrite" },
        { NULL },
};
/* clang-format on */
