/* syscalls.c: calls that are the host's business, or the richest source of kernel exploits.
 *
 * Where the kernel asks for a capability first, the arguments are such that it would do nothing even if it were
 * there: a wrong magic number, a file that does not exist, the value that is set already. */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/io.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define NOWHERE "/nonexistent/cove-escape"

static Verdict try_bpf(char **args) {
        Verdict v = HELD;

        for (int command = 0; command < 8; command++)
                v = worst(v, refused("bpf", syscall(SYS_bpf, command, NULL, 0)));
        return v;
}

static Verdict try_perf(char **args) {
        return refused("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
}

static Verdict try_userfaultfd(char **args) {
        Verdict v = refused("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC));

        return worst(v, refused("userfaultfd for user mode", syscall(SYS_userfaultfd, O_CLOEXEC | 1)));
}

static Verdict try_io_uring(char **args) {
        unsigned char params[120] = { 0 };
        Verdict v = refused("io_uring_setup", syscall(SYS_io_uring_setup, 1, params));

        v = worst(v, refused("io_uring_enter", syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0)));
        return worst(v, refused("io_uring_register", syscall(SYS_io_uring_register, -1, 0, NULL, 0)));
}

static Verdict try_kexec(char **args) {
        Verdict v = refused("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, ~0ul));

        return worst(v, refused("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0, NULL, ~0ul)));
}

static Verdict try_modules(char **args) {
        Verdict v = refused("init_module", syscall(SYS_init_module, NULL, 0, ""));

        v = worst(v, refused("finit_module", syscall(SYS_finit_module, -1, "", 0)));
        return worst(v, refused("delete_module",
                                        syscall(SYS_delete_module, "cove_escape_no_such", O_NONBLOCK)));
}

static Verdict try_reboot(char **args) {
        return refused("reboot", syscall(SYS_reboot, 0, 0, 0, NULL)); /* the magic numbers are wrong */
}

static Verdict try_swap(char **args) {
        return worst(refused("swapon", syscall(SYS_swapon, NOWHERE, 0)),
                        refused("swapoff", syscall(SYS_swapoff, NOWHERE)));
}

static Verdict try_acct(char **args) {
        return refused("acct", syscall(SYS_acct, NOWHERE));
}

static Verdict try_quotactl(char **args) {
        Verdict v = refused("quotactl", syscall(SYS_quotactl, 0x800002 << 8, NOWHERE, 0, NULL));

        return worst(v, refused("quotactl_fd", syscall(443, -1, 0x800002 << 8, 0, NULL)));
}

static Verdict try_ports(char **args) {
#ifdef __x86_64__
        return worst(refused("iopl", syscall(SYS_iopl, 3)),
                        refused("ioperm", syscall(SYS_ioperm, 0x80, 1, 1)));
#else
        return HELD; /* no port instructions */
#endif
}

static Verdict try_ldt(char **args) {
#ifdef __x86_64__
        char buffer[64];

        return refused("modify_ldt", syscall(SYS_modify_ldt, 0, buffer, sizeof(buffer)));
#else
        return HELD;
#endif
}

static Verdict try_time(char **args) {
        struct timespec now;
        struct timex timex = { .modes = ADJ_STATUS };
        Verdict v = refused("settimeofday", syscall(SYS_settimeofday, NULL, NULL));

        (void) clock_gettime(CLOCK_REALTIME, &now);
        v = worst(v, refused("clock_settime", syscall(SYS_clock_settime, CLOCK_REALTIME, &now)));
        return worst(v, refused("adjtimex", syscall(SYS_adjtimex, &timex)));
}

static Verdict try_hostname(char **args) {
        char name[256];

        if (gethostname(name, sizeof(name)) < 0)
                return broken("gethostname: %m");
        return worst(refused("sethostname", sethostname(name, strlen(name))),
                        refused("setdomainname", setdomainname(name, strlen(name))));
}

static Verdict try_syslog(char **args) {
        char buffer[256];
        Verdict v = refused("syslog", syscall(SYS_syslog, 3, buffer, sizeof(buffer)));

        return worst(v, refused("the size of the log", syscall(SYS_syslog, 10, NULL, 0)));
}

static Verdict try_vhangup(char **args) {
        return refused("vhangup", syscall(SYS_vhangup));
}

static Verdict try_fanotify(char **args) {
        Verdict v = refused("fanotify_init", syscall(SYS_fanotify_init, FAN_CLASS_CONTENT, O_RDONLY));

        return worst(v, refused("fanotify_init for notices",
                                        syscall(SYS_fanotify_init, FAN_CLASS_NOTIF | FAN_REPORT_FID,
                                                        O_RDONLY)));
}

static Verdict try_add_key(char **args) {
        return refused("add_key",
                        syscall(SYS_add_key, "user", "cove-escape", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

static Verdict try_request_key(char **args) {
        return refused("request_key", syscall(SYS_request_key, "user", "cove-escape", NULL, 0));
}

static Verdict try_keyctl(char **args) {
        static const int rings[] = { KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_KEYRING,
                KEY_SPEC_USER_SESSION_KEYRING, KEY_SPEC_THREAD_KEYRING };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(rings); i++)
                v = worst(v, refused("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, rings[i], 1)));
        return worst(v, refused("joining a session keyring",
                                        syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL)));
}

static Verdict try_personality(char **args) {
        static const unsigned long personas[] = { MMAP_PAGE_ZERO, READ_IMPLIES_EXEC, ADDR_COMPAT_LAYOUT,
                PER_LINUX32, PER_SVR4, PER_BSD };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(personas); i++) {
                v = worst(v, refused("personality", personality(personas[i])));
                v = worst(v, refused("personality with a full register",
                                             syscall(SYS_personality, 0xffffffff00000000ul | personas[i])));
        }
        return v;
}

/* Left from the past, each a piece of kernel that nobody looks at. */
static Verdict try_obsolete(char **args) {
#ifdef __x86_64__
        static const struct {
                const char *name;
                long number;
        } calls[] = {
                { "uselib",            SYS_uselib          },
                { "ustat",            SYS_ustat           },
                { "sysfs",            SYS_sysfs           },
                { "_sysctl",          SYS__sysctl         },
                { "create_module",    SYS_create_module   },
                { "get_kernel_syms",  SYS_get_kernel_syms },
                { "query_module",     SYS_query_module    },
                { "nfsservctl",       SYS_nfsservctl      },
                { "lookup_dcookie",   SYS_lookup_dcookie  },
                { "getpmsg",          SYS_getpmsg         },
                { "putpmsg",          SYS_putpmsg         },
                { "afs_syscall",      SYS_afs_syscall     },
                { "tuxcall",          SYS_tuxcall         },
                { "security",         SYS_security        },
                { "vserver",          SYS_vserver         },
                { "remap_file_pages", SYS_remap_file_pages },
        };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(calls); i++)
                v = worst(v, refused(calls[i].name, syscall(calls[i].number, 0, 0, 0, 0, 0, 0)));
        return v;
#else
        return refused("nfsservctl", syscall(SYS_nfsservctl, 0, NULL, NULL));
#endif
}

/* An allow-list says no to what its author could not know. */
static Verdict try_unknown(char **args) {
        Verdict v = HELD;

        for (long number = 470; number < 1000; number++) {
                char what[32];

                (void) snprintf(what, sizeof(what), "system call %ld", number);
                v = worst(v, refused(what, syscall(number, -1, -1, -1, -1, -1, -1)));
        }
        return v;
}

/* clang-format off */
const Attempt syscall_attempts[] = {
        { "syscall-bpf", try_bpf, AS_BOTH,
          "bpf loads code into the kernel" },
        { "syscall-perf", try_perf, AS_BOTH,
          "perf_event_open watches the whole machine, with a long list of CVEs" },
        { "syscall-userfaultfd", try_userfaultfd, AS_BOTH,
          "userfaultfd stops the kernel at a place of the attacker's choice" },
        { "syscall-io-uring", try_io_uring, AS_BOTH,
          "io_uring does its work past the system call filter" },
        { "syscall-kexec", try_kexec, AS_BOTH,
          "kexec replaces the host's kernel" },
        { "syscall-modules", try_modules, AS_BOTH,
          "modules are code in the host's kernel" },
        { "syscall-reboot", try_reboot, AS_BOTH,
          "the machine is not the guest's to reboot" },
        { "syscall-swap", try_swap, AS_BOTH,
          "nor is its swap space" },
        { "syscall-acct", try_acct, AS_BOTH,
          "process accounting writes about all of the host" },
        { "syscall-quotactl", try_quotactl, AS_BOTH,
          "quotas are the host's" },
        { "syscall-ports", try_ports, AS_BOTH,
          "I/O ports are the hardware itself" },
        { "syscall-ldt", try_ldt, AS_BOTH,
          "segments are a rare path with a long history" },
        { "syscall-time", try_time, AS_BOTH,
          "the clock is the host's" },
        { "syscall-hostname", try_hostname, AS_BOTH,
          "the name is given by who starts the sandbox" },
        { "syscall-syslog", try_syslog, AS_BOTH,
          "the kernel's log is the host's" },
        { "syscall-vhangup", try_vhangup, AS_BOTH,
          "terminals of others are not the guest's to hang up" },
        { "syscall-fanotify", try_fanotify, AS_BOTH,
          "fanotify watches whole mounts" },
        { "syscall-add-key", try_add_key, AS_BOTH,
          "keys live outside of namespaces and count against the host's quota" },
        { "syscall-request-key", try_request_key, AS_BOTH,
          "a key request makes the host's kernel start a program" },
        { "syscall-keyctl", try_keyctl, AS_BOTH,
          "keyrings of the caller are not the guest's to read" },
        { "syscall-personality", try_personality, AS_BOTH,
          "old personalities undo memory protections" },
        { "syscall-obsolete", try_obsolete, AS_BOTH,
          "what nobody uses is not there" },
        { "syscall-unknown", try_unknown, AS_BOTH,
          "a call that the list does not know is refused, also one of a later kernel" },
        { NULL },
};
/* clang-format on */
