/* From PID 1 to a guest process: what the new program finds, and how a step that failed is told. Each test is a child
 * with the capabilities of an init. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "confine/caps.h"
#include "init/spawn.h"

#define GUEST_ID 12345 /* nobody's */

#define ARGV(...)                                                                                           \
        ((char **) (const char *[]) { __VA_ARGS__, NULL }) /* lives as long as the block around it */

static char *const environment[] = { (char *) "A=1", (char *) "B=two words", NULL };

static SpawnSpec spec_for(char *const *argv) {
        return (SpawnSpec) {
                .argv = argv,
                .envp = environment,
                .path = "/usr/bin:/bin",
                .workdir = "/",
                .single_id = true,
                .rlimits = { RLIMIT_VALUE_UNSET, RLIMIT_VALUE_UNSET, RLIMIT_VALUE_UNSET,
                            RLIMIT_VALUE_UNSET },
                .stdio = { -EBADF,                 -EBADF,                             -EBADF                        },
        };
}

static uint64_t effective(void) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { 0 };

        check_int("capget", syscall(SYS_capget, &header, d), 0);
        return d[0].effective | (uint64_t) d[1].effective << 32;
}

/* As an init is: its capabilities in hand, no others in the bounding set. In a user namespace if need be. */
static void become_init(void) {
        if ((effective() & caps_init()) != caps_init() && unshare(CLONE_NEWUSER) < 0)
                unit_skip("no capabilities to give away (%s); run as root, or allow user namespaces",
                                strerror(errno));
        check_result("bounding set", caps_drop_bounding(CAPS_ALL, caps_init()), 0);
}

static void become_init_of_many_ids(void) {
        if (geteuid() != 0 || (effective() & caps_init()) != caps_init())
                unit_skip("one user id only; run as root");
        check_int("groups to leave behind", setgroups(2, (const gid_t[]) { 77, 78 }), 0);
        check_result("bounding set", caps_drop_bounding(CAPS_ALL, caps_init()), 0);
}

/* As a shell counts: 128 + n for a signal. */
static int wait_for(pid_t pid) {
        int status;

        check_int("waitpid", waitpid(pid, &status, 0), pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static pid_t start(const SpawnSpec *spec) {
        SpawnFailure failure = { .step = "-" };
        pid_t pid = spawn(spec, &failure);

        if (pid < 0)
                print_error("step %s, %s: %s\n", failure.step, failure.detail ? failure.detail : "-",
                                strerror(failure.error));
        check_true("spawn", pid > 0);
        return pid;
}

/* Its output. */
static char *run(SpawnSpec spec, char *buffer, size_t size) {
        ssize_t n;
        int fds[2];
        pid_t pid;

        check_int("pipe", pipe2(fds, O_CLOEXEC), 0);
        spec.stdio[1] = fds[1];
        pid = start(&spec);
        (void) close(fds[1]);
        n = fd_read_full(fds[0], buffer, size - 1);
        (void) close(fds[0]);
        check_true("output", n >= 0);
        buffer[n] = '\0';
        check_int("exit status", wait_for(pid), 0);
        return buffer;
}

static void check_failure(const SpawnSpec *spec, const char *step, int error, const char *detail) {
        SpawnFailure failure = { .step = "-" };

        check_result(step, spawn(spec, &failure), -error);
        check_string("step", failure.step, step);
        check_result("error", -failure.error, -error);
        check_string("detail", failure.detail, detail);
        check_result("no child is left", waitpid(-1, NULL, WNOHANG) < 0 ? -errno : 0, -ECHILD);
}

static const char *make_file(const char *name, const char *text, mode_t mode) {
        const char *path = unit_path(name);

        unit_write_text(path, text);
        check_int("chmod", chmod(path, mode), 0);
        return path;
}

static const char *make_directory(const char *name, mode_t mode) {
        const char *path = unit_path(name);

        (void) mkdir(path, 0700);
        check_int("chmod", chmod(path, mode), 0);
        return path;
}

/* exec */

static void runs(_unused_ void *userdata) {
        SpawnSpec by_path = spec_for(ARGV("/bin/sh", "-c", "exit 7"));
        SpawnSpec by_name = spec_for(ARGV("sh", "-c", "exit 8"));

        become_init();
        for (int i = 0; i < 20; i++) {
                check_int("by path", wait_for(start(&by_path)), 7);
                check_int("by name", wait_for(start(&by_name)), 8);
        }
}

TEST(runs_a_program) {
        unit_run_in_child(runs, NULL);
}

static void not_found(_unused_ void *userdata) {
        SpawnSpec by_path = spec_for(ARGV("/nowhere/at/all")), by_name = spec_for(ARGV("no-such-program")),
                  no_path = spec_for(ARGV("sh")), orphan = spec_for(ARGV("-"));

        become_init();
        check_failure(&by_path, "exec", ENOENT, "/nowhere/at/all");
        check_failure(&by_name, "exec", ENOENT, "no-such-program");
        no_path.path = "";
        check_failure(&no_path, "exec", ENOENT, "sh");
        no_path.path = "/nowhere:/dev/null:/usr/bin/env"; /* absent, and no directories */
        check_failure(&no_path, "exec", ENOENT, "sh");
        orphan.argv = ARGV(make_file("orphan", "#!/nowhere/interpreter\n", 0755));
        check_failure(&orphan, "exec", ENOENT, orphan.argv[0]);
}

TEST(not_found) {
        unit_run_in_child(not_found, NULL);
}

static void not_executable(_unused_ void *userdata) {
        SpawnSpec plain = spec_for(ARGV("-")), directory = spec_for(ARGV("/usr")),
                  empty = spec_for(ARGV("-"));

        become_init();
        plain.argv = ARGV(make_file("plain", "text", 0644));
        check_failure(&plain, "exec", EACCES, plain.argv[0]);
        check_failure(&directory, "exec", EACCES, "/usr");
        empty.argv = ARGV(make_file("empty", "", 0755));
        check_failure(&empty, "exec", ENOEXEC, empty.argv[0]);
}

TEST(not_executable) {
        unit_run_in_child(not_executable, NULL);
}

/* One that may not be executed is passed over, and remembered if there is no other. */
static void search(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("cove-test-tool"));
        char path[2048], buffer[64];

        become_init();
        (void) make_directory("first", 0755);
        (void) make_directory("second", 0755);
        (void) make_file("first/cove-test-tool", "text", 0644);
        (void) snprintf(path, sizeof(path), "/nowhere:%s:%s", unit_path("first"), unit_path("second"));
        spec.path = path;
        check_failure(&spec, "exec", EACCES, "cove-test-tool");
        (void) make_file("second/cove-test-tool", "#!/bin/sh\necho second\n", 0755);
        check_string("output", run(spec, buffer, sizeof(buffer)), "second\n");
}

TEST(search_path) {
        unit_run_in_child(search, NULL);
}

static void too_long(_unused_ void *userdata) {
        static char argument[256 * 1024], name[5000];
        SpawnSpec spec = spec_for(ARGV("/bin/true", argument)), named = spec_for(ARGV(name));

        become_init();
        memset(argument, 'x', sizeof(argument) - 1);
        check_failure(&spec, "exec", E2BIG, "/bin/true");
        memset(name, 'x', sizeof(name) - 1);
        check_failure(&named, "exec", ENOENT, name); /* no file can be called that */
}

TEST(too_long) {
        unit_run_in_child(too_long, NULL);
}

/* what the program finds */

static void finds_environment(_unused_ void *userdata) {
        char buffer[256];

        become_init();
        check_string("env", run(spec_for(ARGV("env")), buffer, sizeof(buffer)), "A=1\nB=two words\n");
}

TEST(environment_is_what_was_given) {
        unit_run_in_child(finds_environment, NULL);
}

static void finds_stdio(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("sh", "-c", "read x; echo out $x; echo err $x >&2"));
        int in[2], out[2], err[2];
        char text[32] = "";
        pid_t pid;

        become_init();
        check_int("pipe", pipe2(in, O_CLOEXEC), 0);
        check_int("pipe", pipe2(out, O_CLOEXEC), 0);
        check_int("pipe", pipe2(err, O_CLOEXEC), 0);
        check_result("write", fd_write_all(in[1], "hello\n", 6), 0);
        spec.stdio[0] = in[0];
        spec.stdio[1] = out[1];
        spec.stdio[2] = err[1];
        pid = start(&spec);
        (void) close(out[1]);
        (void) close(err[1]);
        check_int("exit status", wait_for(pid), 0);
        check_int("stdout", fd_read_full(out[0], text, sizeof(text) - 1), 10);
        check_string("stdout", text, "out hello\n");
        check_int("stderr", fd_read_full(err[0], text, sizeof(text) - 1), 10);
        check_string("stderr", text, "err hello\n");
}

TEST(stdio) {
        unit_run_in_child(finds_stdio, NULL);
}

static void finds_workdir(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("pwd"));
        char buffer[4096], expected[4096], here[4096];

        become_init();
        check_true("getcwd", getcwd(here, sizeof(here)) != NULL);
        spec.workdir = make_directory("work", 0755);
        (void) snprintf(expected, sizeof(expected), "%s\n", spec.workdir);
        check_string("pwd", run(spec, buffer, sizeof(buffer)), expected);
        check_true("getcwd", getcwd(buffer, sizeof(buffer)) != NULL);
        check_string("our own", buffer, here);

        spec.workdir = "/nowhere/at/all";
        check_failure(&spec, "workdir", ENOENT, "/nowhere/at/all");
        spec.workdir = "/dev/null";
        check_failure(&spec, "workdir", ENOTDIR, "/dev/null");
}

TEST(workdir) {
        unit_run_in_child(finds_workdir, NULL);
}

static void finds_umask(_unused_ void *userdata) {
        char buffer[64];

        become_init();
        (void) umask(0077);
        check_string("umask", run(spec_for(ARGV("sh", "-c", "umask")), buffer, sizeof(buffer)), "0022\n");
        check_int("our own", umask(0077), 0077);
}

TEST(umask) {
        unit_run_in_child(finds_umask, NULL);
}

static void check_field(const char *status, const char *name, const char *expected) {
        char found[256] = "", wanted[64];
        const char *line;

        (void) snprintf(wanted, sizeof(wanted), "\n%s:\t", name);
        line = strstr(status, wanted);
        check_true(name, line != NULL);
        line += strlen(wanted);
        (void) snprintf(found, sizeof(found), "%.*s", (int) strcspn(line, "\n"), line);
        for (size_t n = strlen(found); n > 0 && found[n - 1] == ' '; n--)
                found[n - 1] = '\0';
        check_string(name, found, expected);
}

static const char *hex(uint64_t set) {
        static char text[32];

        (void) snprintf(text, sizeof(text), "%016llx", (unsigned long long) set);
        return text;
}

static SpawnSpec show_status(void) {
        static char *const argv[] = { (char *) "cat", (char *) "/proc/self/status", NULL };

        return spec_for(argv);
}

static void finds_signals(_unused_ void *userdata) {
        struct sigaction action;
        char buffer[8192];
        sigset_t all;

        become_init();
        (void) signal(SIGINT, SIG_IGN);
        (void) signal(SIGPIPE, SIG_IGN);
        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, NULL);
        (void) run(show_status(), buffer, sizeof(buffer));
        check_field(buffer, "SigBlk", hex(0));
        check_field(buffer, "SigIgn", hex(0));

        (void) sigaction(SIGINT, NULL, &action);
        check_true("ours is as it was", action.sa_handler == SIG_IGN);
        (void) sigprocmask(SIG_SETMASK, NULL, &all);
        check_int("our mask is as it was", sigismember(&all, SIGTERM), 1);
}

TEST(signals_are_fresh) {
        unit_run_in_child(finds_signals, NULL);
}

static void finds_session(_unused_ void *userdata) {
        int pid = 0, group = 0, session = 0, terminal = 0;
        char buffer[1024];

        become_init();
        (void) run(spec_for(ARGV("cat", "/proc/self/stat")), buffer, sizeof(buffer));
        check_int("stat", sscanf(buffer, "%d (cat) %*c %*d %d %d %d", &pid, &group, &session, &terminal), 4);
        check_int("process group", group, pid);
        check_int("session", session, pid);
        check_int("controlling terminal", terminal, 0);
}

TEST(session_is_its_own) {
        unit_run_in_child(finds_session, NULL);
}

static void finds_terminal(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("cat", "/proc/self/stat")), broken = spec_for(ARGV("true"));
        int pid = 0, session = 0, terminal = 0, group = 0, master, slave, fds[2];
        char buffer[1024];

        become_init();
        if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
                unit_skip("no pseudo terminal here (%s); mount devpts on /dev/pts", strerror(errno));
        spec.stdio[0] = slave;
        spec.terminal = true;
        (void) run(spec, buffer, sizeof(buffer));
        check_int("stat", sscanf(buffer, "%d (cat) %*c %*d %*d %d %d %d", &pid, &session, &terminal, &group),
                        4);
        check_int("session", session, pid);
        check_true("controlling terminal", terminal != 0);
        check_int("in the foreground", group, pid);

        check_int("pipe", pipe2(fds, O_CLOEXEC), 0);
        broken.stdio[0] = fds[0];
        broken.terminal = true;
        check_failure(&broken, "stdio", ENOTTY, NULL);
}

TEST(terminal) {
        unit_run_in_child(finds_terminal, NULL);
}

static void finds_rlimits(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("sh", "-c", "ulimit -n; ulimit -Hn; ulimit -c"));
        char buffer[64];

        become_init();
        spec.rlimits.nofile = 77;
        check_string("ulimit", run(spec, buffer, sizeof(buffer)), "77\n77\n0\n");
}

TEST(rlimits) {
        unit_run_in_child(finds_rlimits, NULL);
}

/* capabilities and ids */

static void finds_no_capabilities(_unused_ void *userdata) {
        char buffer[8192];

        become_init();
        (void) run(show_status(), buffer, sizeof(buffer));
        check_field(buffer, "CapBnd", hex(0));
        check_field(buffer, "CapEff", hex(0));
        check_field(buffer, "CapPrm", hex(0));
        check_field(buffer, "CapInh", hex(0));
        check_field(buffer, "CapAmb", hex(0));
        check_uint("ours are as they were", effective() & caps_init(), caps_init());
}

TEST(no_capabilities) {
        unit_run_in_child(finds_no_capabilities, NULL);
}

static void finds_capabilities_of_root(_unused_ void *userdata) {
        SpawnSpec spec = show_status();
        char buffer[8192];

        become_init_of_many_ids();
        spec.single_id = false;
        spec.uid = spec.gid = 0;
        spec.capabilities = caps_guest_root();
        (void) run(spec, buffer, sizeof(buffer));
        check_field(buffer, "CapBnd", hex(caps_guest_root()));
        check_field(buffer, "CapEff", hex(caps_guest_root()));
        check_field(buffer, "CapPrm", hex(caps_guest_root()));
        check_field(buffer, "CapInh", hex(0));
        check_field(buffer, "Uid", "0\t0\t0\t0");
        check_field(buffer, "Groups", "");
}

TEST(capabilities_of_guest_root) {
        unit_run_in_child(finds_capabilities_of_root, NULL);
}

static void finds_ids(_unused_ void *userdata) {
        SpawnSpec spec = show_status();
        char buffer[8192];

        become_init_of_many_ids();
        spec.single_id = false;
        spec.uid = GUEST_ID;
        spec.gid = GUEST_ID + 1;
        (void) run(spec, buffer, sizeof(buffer));
        check_field(buffer, "Uid", "12345\t12345\t12345\t12345");
        check_field(buffer, "Gid", "12346\t12346\t12346\t12346");
        check_field(buffer, "Groups", "");
        check_field(buffer, "CapEff", hex(0));
        check_field(buffer, "CapBnd", hex(0));
        check_uint("our own", geteuid(), 0);
}

TEST(ids) {
        unit_run_in_child(finds_ids, NULL);
}

static void closed_workdir(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("true"));

        become_init_of_many_ids();
        spec.single_id = false;
        spec.uid = spec.gid = GUEST_ID;
        spec.workdir = make_directory("closed", 0700);
        check_failure(&spec, "workdir", EACCES, spec.workdir);
}

TEST(workdir_closed_to_the_guest) {
        unit_run_in_child(closed_workdir, NULL);
}

static void without_capabilities(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("true"));

        become_init();
        check_result("caps_set", caps_set(0), 0);
        check_failure(&spec, "bounding-set", EPERM, NULL);
}

TEST(bounding_set_cannot_be_dropped) {
        unit_run_in_child(without_capabilities, NULL);
}

static void without_setuid(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("true"));

        become_init();
        check_result("caps_set", caps_set(CAP_BIT(CAP_SETPCAP)), 0);
        spec.single_id = false;
        check_failure(&spec, "ids", EPERM, NULL);
}

TEST(ids_cannot_be_set) {
        unit_run_in_child(without_setuid, NULL);
}

/* the syscall filter */

static void finds_filter(_unused_ void *userdata) {
        SpawnSpec spec = show_status();
        char buffer[8192];

        become_init();
        check_int("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        spec.seccomp = true;
        (void) run(spec, buffer, sizeof(buffer));
        check_field(buffer, "Seccomp", "2");
        check_field(buffer, "NoNewPrivs", "1");
        check_int("ours is as it was", prctl(PR_GET_SECCOMP), 0);
}

TEST(seccomp) {
        unit_run_in_child(finds_filter, NULL);
}

static void filter_without_nnp(_unused_ void *userdata) {
        SpawnSpec spec = spec_for(ARGV("true"));

        become_init();
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
                unit_skip("no_new_privs is on already; run the test from a shell without it");
        spec.seccomp = true;
        check_failure(&spec, "seccomp", EACCES, NULL);
}

TEST(seccomp_cannot_be_loaded) {
        unit_run_in_child(filter_without_nnp, NULL);
}
