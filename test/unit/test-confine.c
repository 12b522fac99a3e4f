/* What a process does to itself: capabilities, Landlock, rlimits. Each test confines a child and looks what is left.
 * The syscall filter has test-seccomp.c. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "confine/caps.h"
#include "confine/filter.h"
#include "confine/landlock.h"
#include "confine/program.h"
#include "confine/rlimits.h"

/* capabilities */

typedef struct Caps {
        uint64_t effective, permitted, inheritable;
} Caps;

static Caps caps_get(void) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { 0 };

        check_int("capget", syscall(SYS_capget, &header, d), 0);
        return (Caps) {
                .effective = d[0].effective | (uint64_t) d[1].effective << 32,
                .permitted = d[0].permitted | (uint64_t) d[1].permitted << 32,
                .inheritable = d[0].inheritable | (uint64_t) d[1].inheritable << 32,
        };
}

static unsigned caps_last(void) {
        uint64_t last = 0;

        check_result("cap_last_cap", file_read_uint64(AT_FDCWD, "/proc/sys/kernel/cap_last_cap", &last), 0);
        return (unsigned) last;
}

static uint64_t bounding_get(void) {
        uint64_t set = 0;

        for (unsigned cap = 0; cap <= caps_last(); cap++)
                if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
                        set |= CAP_BIT(cap);
        return set;
}

/* With the capabilities of an init: ours, or those of a user namespace. */
static void need_caps(uint64_t needed) {
        if ((caps_get().effective & needed) == needed)
                return;
        if (unshare(CLONE_NEWUSER) < 0)
                unit_skip("no capabilities to give away (%s); run as root, or allow user namespaces",
                                strerror(errno));
        check_uint("capabilities in a user namespace", caps_get().effective & needed, needed);
}

static void drop_all(_unused_ void *userdata) {
        need_caps(CAP_BIT(CAP_SETPCAP));
        check_true("there is something to drop", bounding_get() != 0);
        check_result("caps_drop_bounding", caps_drop_bounding(CAPS_ALL, 0), 0);
        check_uint("bounding set", bounding_get(), 0);
        check_result("again", caps_drop_bounding(CAPS_ALL, 0), 0);
}

TEST(bounding_set_becomes_empty) {
        unit_run_in_child(drop_all, NULL);
}

static void drop_some(_unused_ void *userdata) {
        uint64_t before;

        need_caps(CAP_BIT(CAP_SETPCAP));
        before = bounding_get();
        check_result("keep", caps_drop_bounding(CAPS_ALL, caps_init()), 0);
        check_uint("bounding set of an init", bounding_get(), before & caps_init());
        check_result("keep less", caps_drop_bounding(caps_init(), caps_guest_root()), 0);
        check_uint("bounding set of guest root", bounding_get(), before & caps_guest_root());
        check_result("keep none", caps_drop_bounding(caps_guest_root(), 0), 0);
        check_uint("bounding set of a user", bounding_get(), 0);
}

TEST(bounding_set_shrinks_in_steps) {
        unit_run_in_child(drop_some, NULL);
}

static void drop_without_right(_unused_ void *userdata) {
        need_caps(CAP_BIT(CAP_SETPCAP));
        check_result("caps_set", caps_set(0), 0);
        check_result("caps_drop_bounding", caps_drop_bounding(CAPS_ALL, 0), -EPERM);
        check_true("bounding set", bounding_get() != 0);
}

TEST(bounding_set_needs_setpcap) {
        unit_run_in_child(drop_without_right, NULL);
}

static void set_some(_unused_ void *userdata) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { 0 };
        Caps caps, had;

        need_caps(caps_init());
        had = caps_get();
        d[0].effective = d[0].permitted = (uint32_t) had.permitted;
        d[1].effective = d[1].permitted = (uint32_t) (had.permitted >> 32);
        d[0].inheritable = 1u << CAP_CHOWN;
        check_int("capset", syscall(SYS_capset, &header, d), 0);
        check_int("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0), 0);

        check_result("caps_set", caps_set(caps_guest_root()), 0);
        caps = caps_get();
        check_uint("effective", caps.effective, caps_guest_root());
        check_uint("permitted", caps.permitted, caps_guest_root());
        check_uint("inheritable", caps.inheritable, 0);
        check_int("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_CHOWN, 0, 0), 0);

        check_result("what was given away", caps_set(caps_init()), -EPERM);
        check_result("nothing", caps_set(0), 0);
        check_uint("permitted", caps_get().permitted, 0);
        check_result("one", caps_set(CAP_BIT(CAP_CHOWN)), -EPERM);
}

TEST(capabilities_only_shrink) {
        unit_run_in_child(set_some, NULL);
}

/* Written out here a second time, not taken from the table. */
TEST(guest_root_has_no_dangerous_capability) {
        static const unsigned dangerous[] = { CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_NET_ADMIN, CAP_NET_RAW,
                CAP_MKNOD, CAP_SYS_RESOURCE, CAP_SYS_TIME, CAP_SYS_BOOT, CAP_SYS_MODULE, CAP_SYS_RAWIO,
                CAP_BPF, CAP_PERFMON, CAP_SYSLOG, CAP_AUDIT_CONTROL, CAP_AUDIT_READ, CAP_AUDIT_WRITE,
                CAP_MAC_ADMIN, CAP_MAC_OVERRIDE, CAP_LINUX_IMMUTABLE, CAP_IPC_LOCK, CAP_IPC_OWNER, CAP_LEASE,
                CAP_WAKE_ALARM, CAP_BLOCK_SUSPEND, CAP_CHECKPOINT_RESTORE, CAP_SYS_NICE, CAP_SYS_PACCT,
                CAP_SYS_TTY_CONFIG, CAP_DAC_READ_SEARCH };

        for (size_t i = 0; i < ELEMENTSOF(dangerous); i++) {
                char what[32];

                (void) snprintf(what, sizeof(what), "capability %u", dangerous[i]);
                check_uint(what, caps_guest_root() & CAP_BIT(dangerous[i]), 0);
        }
}

TEST(init_has_more_than_any_guest) {
        check_uint("what guest root has", caps_init() & caps_guest_root(), caps_guest_root());
        check_true("more", caps_init() != caps_guest_root());
}

/* Landlock */

static int need_landlock(void) {
        int abi = landlock_probe();

        if (abi < 0)
                unit_skip("this kernel has no Landlock (%s); boot with landlock in lsm=", strerror(-abi));
        check_true("ABI", abi >= 1);
        return abi;
}

/* A root directory of our own, with what is around it in reach of a descriptor: as after a pivot_root with a leak. */
static int enter_root(const char *name) {
        int outside = open(unit_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        char path[4096];

        check_true("outside", outside >= 0);
        (void) snprintf(path, sizeof(path), "%s/%s", unit_directory(), name);
        (void) mkdir(path, 0755);
        need_caps(CAP_BIT(CAP_SYS_CHROOT));
        check_int("chroot", chroot(path), 0);
        check_int("chdir", chdir("/"), 0);
        return outside;
}

static int result_of(int r) {
        return r < 0 ? -errno : 0;
}

static int try_open(int dir, const char *path, int flags) {
        _cleanup_close_ int fd = openat(dir, path, flags | O_CLOEXEC, 0600);
        return fd < 0 ? -errno : 0;
}

static void confine(void) {
        check_int("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        check_result("landlock_confine_to_root", landlock_confine_to_root(), 0);
}

static void leaked_directory(_unused_ void *userdata) {
        int outside;

        (void) need_landlock();
        unit_write_text(unit_path("secret"), "x");
        outside = enter_root("root-leak");
        (void) mkdir("/dev", 0755);
        check_result("before: read", try_open(outside, "secret", O_RDONLY), 0);

        confine();
        check_result("read", try_open(outside, "secret", O_RDONLY), -EACCES);
        check_result("write", try_open(outside, "secret", O_WRONLY), -EACCES);
        check_result("make", try_open(outside, "new", O_WRONLY | O_CREAT), -EACCES);
        check_result("list", try_open(outside, ".", O_RDONLY | O_DIRECTORY), -EACCES);
        check_result("mkdir", result_of(mkdirat(outside, "new", 0700)), -EACCES);
        check_result("unlink", result_of(unlinkat(outside, "secret", 0)), -EACCES);
        check_result("symlink", result_of(symlinkat("x", outside, "new")), -EACCES);
        check_result("read back through our root",
                        try_open(outside, "root-leak/dev", O_RDONLY | O_DIRECTORY), 0);
}

TEST(landlock_closes_a_leaked_directory) {
        unit_run_in_child(leaked_directory, NULL);
}

static void inside_works(_unused_ void *userdata) {
        int abi = need_landlock();

        (void) enter_root("root-inside");
        (void) mkdir("/dev", 0755);
        confine();
        check_result("make", try_open(AT_FDCWD, "/file", O_RDWR | O_CREAT), 0);
        check_result("cut", try_open(AT_FDCWD, "/file", O_RDWR | O_TRUNC), 0);
        check_result("truncate", result_of(truncate("/file", 10)), 0);
        check_result("mkdir", result_of(mkdir("/a", 0755)), 0);
        check_result("mkdir", result_of(mkdir("/b", 0755)), 0);
        check_result("list", try_open(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY), 0);
        check_result("rename", result_of(rename("/file", "/file2")), 0);
        if (abi >= 2) /* before, a ruleset closes this whatever it says */
                check_result("rename to another directory", result_of(rename("/file2", "/a/file")), 0);
        check_result("symlink", result_of(symlink("a", "/link")), 0);
        check_result("fifo", result_of(mkfifo("/fifo", 0600)), 0);
        check_result("unlink", result_of(unlink("/fifo")), 0);
        check_result("rmdir", result_of(rmdir("/b")), 0);
}

TEST(landlock_leaves_the_inside_alone) {
        unit_run_in_child(inside_works, NULL);
}

static void no_devices(_unused_ void *userdata) {
        (void) need_landlock();
        (void) enter_root("root-devices");
        (void) mkdir("/dev", 0755);
        /* The one device number that needs no privilege, so that it is Landlock which refuses. */
        check_result("before", result_of(mknod("/char", S_IFCHR | 0600, makedev(0, 0))), 0);
        confine();
        check_result("in /", result_of(mknod("/char2", S_IFCHR | 0600, makedev(0, 0))), -EACCES);
        check_result("in /dev", result_of(mknod("/dev/char", S_IFCHR | 0600, makedev(0, 0))), -EACCES);
        check_result("block", result_of(mknod("/block", S_IFBLK | 0600, makedev(7, 0))), -EACCES);
}

TEST(landlock_forbids_devices) {
        unit_run_in_child(no_devices, NULL);
}

static void signals_across(_unused_ void *userdata) {
        pid_t pid;

        if (need_landlock() < 6)
                unit_skip("Landlock knows no signals before ABI 6 (Linux 6.12)");
        check_result("before", result_of(kill(getppid(), 0)), 0);
        (void) enter_root("root-signals");
        (void) mkdir("/dev", 0755);
        confine();
        check_result("across the wall", result_of(kill(getppid(), 0)), -EPERM);
        check_result("to ourselves", result_of(kill(getpid(), 0)), 0);
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        (void) pause();
        }
        check_result("to a child", result_of(kill(pid, SIGKILL)), 0);
        (void) waitpid(pid, NULL, 0);
}

TEST(landlock_stops_signals) {
        unit_run_in_child(signals_across, NULL);
}

static void abstract_across(_unused_ void *userdata) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), before, after;
        socklen_t size;

        if (need_landlock() < 6)
                unit_skip("Landlock knows no abstract sockets before ABI 6 (Linux 6.12)");
        size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                            (size_t) snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
                                            "cove-unit-%d", (int) getpid()));
        check_result("bind", result_of(bind(listener, (struct sockaddr *) &address, size)), 0);
        check_result("listen", result_of(listen(listener, 2)), 0);
        before = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check_result("before", result_of(connect(before, (struct sockaddr *) &address, size)), 0);

        (void) enter_root("root-abstract");
        (void) mkdir("/dev", 0755);
        confine();
        after = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check_result("across the wall", result_of(connect(after, (struct sockaddr *) &address, size)),
                        -EPERM);
}

TEST(landlock_stops_abstract_sockets) {
        unit_run_in_child(abstract_across, NULL);
}

static void no_dev_directory(_unused_ void *userdata) {
        (void) need_landlock();
        (void) enter_root("root-bare");
        check_int("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        check_result("landlock_confine_to_root", landlock_confine_to_root(), -ENOENT);
}

TEST(landlock_says_when_it_cannot) {
        unit_run_in_child(no_dev_directory, NULL);
}

static void without_nnp(_unused_ void *userdata) {
        (void) need_landlock();
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
                unit_skip("no_new_privs is on already; run the test from a shell without it");
        check_result("caps_set", caps_set(0), 0);
        check_result("landlock_confine_to_root", landlock_confine_to_root(), -EPERM);
}

TEST(landlock_needs_no_new_privs) {
        unit_run_in_child(without_nnp, NULL);
}

/* A kernel without Landlock, or with Landlock switched off at boot, as a syscall filter plays it. */
static void without_landlock(void *userdata) {
        const struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | *(const unsigned *) userdata),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog program = { .len = ELEMENTSOF(code), .filter = (struct sock_filter *) code };

        check_int("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        check_int("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0);
        check_result("landlock_probe", landlock_probe(), -EOPNOTSUPP);
        check_result("landlock_confine_to_root", landlock_confine_to_root(), -EOPNOTSUPP);
}

TEST(landlock_missing) {
        unit_run_in_child(without_landlock, &(unsigned) { ENOSYS });
        unit_run_in_child(without_landlock, &(unsigned) { EOPNOTSUPP });
}

/* rlimits */

static const GuestRlimits unset = { RLIMIT_VALUE_UNSET, RLIMIT_VALUE_UNSET, RLIMIT_VALUE_UNSET,
        RLIMIT_VALUE_UNSET };

static void check_limits(const char *what, __rlimit_resource_t resource, uint64_t soft, uint64_t hard) {
        struct rlimit limit;

        check_int(what, getrlimit(resource, &limit), 0);
        check_uint(what, limit.rlim_cur, soft);
        check_uint(what, limit.rlim_max, hard);
}

static void check_limit(const char *what, __rlimit_resource_t resource, uint64_t value) {
        check_limits(what, resource, value, value);
}

static void set_limit(__rlimit_resource_t resource, uint64_t soft, uint64_t hard) {
        check_int("setrlimit", setrlimit(resource, &(struct rlimit) { .rlim_cur = soft, .rlim_max = hard }),
                        0);
}

static uint64_t hard_limit(__rlimit_resource_t resource) {
        struct rlimit limit;

        check_int("getrlimit", getrlimit(resource, &limit), 0);
        return limit.rlim_max;
}

static uint64_t at_most(__rlimit_resource_t resource, uint64_t value) {
        return MIN_OF(hard_limit(resource), value);
}

static void lower_all(_unused_ void *userdata) {
        const GuestRlimits limits = { .nofile = 40, .data_bytes = 1 << 30, .cpu_seconds = 90, .nproc = 50 };
        const uint64_t memlock = at_most(RLIMIT_MEMLOCK, 8 * 1024 * 1024),
                       queue = at_most(RLIMIT_MSGQUEUE, 819200), pending = at_most(RLIMIT_SIGPENDING, 4096),
                       nproc = at_most(RLIMIT_NPROC, 50);

        check_result("rlimits_apply", rlimits_apply(&limits), 0);
        check_limit("core", RLIMIT_CORE, 0);
        check_limit("nofile", RLIMIT_NOFILE, 40);
        check_limit("memlock", RLIMIT_MEMLOCK, memlock);
        check_limit("msgqueue", RLIMIT_MSGQUEUE, queue);
        check_limit("sigpending", RLIMIT_SIGPENDING, pending);
        check_limit("rtprio", RLIMIT_RTPRIO, 0);
        check_limit("nice", RLIMIT_NICE, 0);
        check_limit("data", RLIMIT_DATA, 1 << 30);
        check_limits("cpu", RLIMIT_CPU, 90, 91); /* SIGXCPU first, which tells why */
        check_limit("nproc", RLIMIT_NPROC, nproc);
}

TEST(rlimits_are_set_hard_and_soft) {
        unit_run_in_child(lower_all, NULL);
}

/* Also by a process that could: the hard limit which is lower already was somebody's will. */
static void never_raised(_unused_ void *userdata) {
        const GuestRlimits limits = {
                .nofile = 4096, .data_bytes = UINT64_C(1) << 40, .cpu_seconds = 1 << 20, .nproc = 1 << 20
        };

        set_limit(RLIMIT_NOFILE, 32, 40);
        set_limit(RLIMIT_MEMLOCK, 4096, 8192);
        set_limit(RLIMIT_MSGQUEUE, 100, 200);
        set_limit(RLIMIT_SIGPENDING, 5, 7);
        set_limit(RLIMIT_DATA, UINT64_C(1) << 38, UINT64_C(1) << 39);
        set_limit(RLIMIT_CPU, 1000, 2000);
        set_limit(RLIMIT_NPROC, 100, 200);
        check_result("rlimits_apply", rlimits_apply(&limits), 0);
        check_limit("nofile", RLIMIT_NOFILE, 40);
        check_limit("memlock", RLIMIT_MEMLOCK, 8192);
        check_limit("msgqueue", RLIMIT_MSGQUEUE, 200);
        check_limit("sigpending", RLIMIT_SIGPENDING, 7);
        check_limit("data", RLIMIT_DATA, UINT64_C(1) << 39);
        check_limit("cpu", RLIMIT_CPU, 2000);
        check_limit("nproc", RLIMIT_NPROC, 200);
}

TEST(rlimits_are_never_raised) {
        unit_run_in_child(never_raised, NULL);
}

static void cpu_at_the_hard_limit(_unused_ void *userdata) {
        GuestRlimits limits = unset;

        limits.cpu_seconds = 90;
        set_limit(RLIMIT_CPU, 90, 90);
        check_result("rlimits_apply", rlimits_apply(&limits), 0);
        check_limit("cpu", RLIMIT_CPU, 90);
}

TEST(rlimit_of_cpu_is_not_raised_by_its_second) {
        unit_run_in_child(cpu_at_the_hard_limit, NULL);
}

static void unset_stays(_unused_ void *userdata) {
        static const __rlimit_resource_t resources[] = { RLIMIT_NOFILE, RLIMIT_DATA, RLIMIT_CPU,
                RLIMIT_NPROC };
        struct rlimit before[ELEMENTSOF(resources)], after;

        for (size_t i = 0; i < ELEMENTSOF(resources); i++)
                check_int("getrlimit", getrlimit(resources[i], before + i), 0);
        check_result("rlimits_apply", rlimits_apply(&unset), 0);
        for (size_t i = 0; i < ELEMENTSOF(resources); i++) {
                check_int("getrlimit", getrlimit(resources[i], &after), 0);
                check_uint("soft", after.rlim_cur, before[i].rlim_cur);
                check_uint("hard", after.rlim_max, before[i].rlim_max);
        }
        check_limit("core, all the same", RLIMIT_CORE, 0);
}

TEST(rlimits_unset_stay) {
        unit_run_in_child(unset_stays, NULL);
}

/* Confined programs. */

typedef struct ProgramWords {
        ProgramArguments words;
        const char *text;
        bool flag;
        uint64_t number;
} ProgramWords;

static int verb_nothing(_unused_ void *options, _unused_ Error *reterr) {
        return 0;
}

static const ProgramVerb program_verbs[] = { { "look", verb_nothing, NULL }, { "take", verb_nothing, "a path" } };
static const ProgramOption program_options[] = {
        { "--text",   1u << 0 | 1u << 1, false, program_set_text,   offsetof(ProgramWords, text)   },
        { "--flag",   1u << 1,           true,  program_set_true,   offsetof(ProgramWords, flag)   },
        { "--number", 1u << 0,           false, program_set_number, offsetof(ProgramWords, number) },
};
static const Program test_program = { "cove-test", program_verbs, ELEMENTSOF(program_verbs), program_options, ELEMENTSOF(program_options), NULL, NULL };

static int words_parse(const char *const *words, ProgramWords *ret, Error *error) {
        char *argv[8] = { (char *) "cove-test" };
        int argc = 1;

        for (; words[argc - 1]; argc++)
                argv[argc] = (char *) words[argc - 1];
        *ret = (ProgramWords) { 0 };
        return program_parse(&test_program, argc, argv, ret, error);
}

TEST(program_command_lines) {
        static const struct {
                const char *words[6], *complaint;
        } bad[] = {
                { { NULL },                          "usage: cove-test look|take"                    },
                { { "fly" },                         "usage: cove-test look|take"                    },
                { { "take" },                        "take needs a path"                             },
                { { "look", "--flag" },              "cove-test look: no such option: '--flag'"      },
                { { "take", "x", "--number", "1" },  "cove-test take: no such option: '--number'"    },
                { { "look", "word" },                "cove-test look: no such option: 'word'"        },
                { { "look", "--text" },              "--text needs a value"                          },
                { { "look", "--number", "0" },       "no number: '0'"                                },
        };
        ProgramWords w;
        Error error;

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                int r = words_parse(bad[i].words, &w, &error);

                check_true(bad[i].complaint, (r == -EINVAL || r == -ERANGE) && strstr(error.text, bad[i].complaint));
        }
        check_result("all", words_parse((const char *const[]) { "take", "--flag", "--flag", "--text", "--flag", NULL }, &w, &error), 0);
        check_uint("verb", w.words.verb, 1);
        check_string("an operand is whatever stands there", w.words.operand, "--flag");
        check_true("flag", w.flag);
        check_string("so is a value", w.text, "--flag");
        check_result("number", words_parse((const char *const[]) { "look", "--number", "7", NULL }, &w, &error), 0);
        check_uint("number", w.number, 7);
}

static void behind_walls(_unused_ void *userdata) {
        static const struct sock_filter filter[] = { FILTER_BEGIN, DENY(getppid), ANSWER(SECCOMP_RET_ALLOW) };
        _cleanup_close_ int kept = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), closed = fcntl(kept, F_DUPFD_CLOEXEC, 100);
        const ProgramWalls walls = {
                .descriptors = 100,
                .descriptors_max = 50,
                .forbidden.files = LANDLOCK_FILES,
                .rules = { { .fd = kept, .access = LANDLOCK_FILES }, { .path = "/nowhere", .access = LANDLOCK_FILES, .optional = true } },
                .n_rules = 2,
                .filters = { { filter, ELEMENTSOF(filter) } },
                .no_processes = true,
        };
        Error error = { 0 };

        set_limit(RLIMIT_NOFILE, 200, 200);
        check_result("program_confine", program_confine(&walls, &error), 0);
        check_int("closed", fcntl(closed, F_GETFD), -1);
        check_true("kept", fcntl(kept, F_GETFD) >= 0);
        check_limit("nofile", RLIMIT_NOFILE, 50);
        check_limit("core", RLIMIT_CORE, 0);
        check_uint("capabilities", caps_get().permitted, 0);
        check_int("no_new_privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
        if (landlock_probe() > 0) {
                check_true("what is allowed", close(openat(kept, "version", O_RDONLY)) == 0);
                check_int("what is not", open("/etc/passwd", O_RDONLY), -1);
        }
        if (!PROGRAM_SANITIZED) {
                check_int("a call that is denied", syscall(SYS_getppid), -1);
                check_int("a process", fork(), -1);
        }
        closed = -EBADF;
}

TEST(program_walls) {
        unit_run_in_child(behind_walls, NULL);
}
