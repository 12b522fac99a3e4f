/* proc.c: what /proc and /sys tell about the host, and what can be changed through them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

static bool is_number(const char *name) {
        return strspn(name, "0123456789") == strlen(name);
}

static Verdict each_process(Verdict (*f)(const char *pid)) {
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir("/proc");
        if (!dir)
                return broken("/proc: %m");
        while ((entry = readdir(dir)))
                if (is_number(entry->d_name))
                        v = worst(v, f(entry->d_name));
        (void) closedir(dir);
        return v;
}

/* PID 1. Needs it to be somebody else than us. */

static Verdict closed_to_us(const char *name) {
        char path[64], text[64];
        Verdict v = HELD;
        int fd;

        if (getpid() == 1 || getppid() == 0)
                return broken("there is no PID 1 beside the guest's command");
        (void) snprintf(path, sizeof(path), "/proc/1/%s", name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && read(fd, text, sizeof(text)) >= 0)
                v = escaped("%s can be read", path);
        (void) close(fd);
        return worst(v, unwritable(path));
}

static Verdict try_init_root(char **args) {
        Verdict v = worst(reach_marker("/proc/1/root"), reach_marker("/proc/1/cwd"));

        v = worst(v, failed("/proc/1/root", open("/proc/1/root/", O_PATH | O_CLOEXEC)));
        return worst(v, failed("/proc/1/cwd", open("/proc/1/cwd/", O_PATH | O_CLOEXEC)));
}

static Verdict try_init_fd(char **args) {
        char path[64];
        Verdict v = failed("/proc/1/fd", open("/proc/1/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

        for (int i = 0; i < 64; i++) {
                (void) snprintf(path, sizeof(path), "/proc/1/fd/%d", i);
                v = worst(v, failed(path, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
        }
        return worst(v, failed("/proc/1/fdinfo",
                                        open("/proc/1/fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

static Verdict try_init_environ(char **args) {
        return closed_to_us("environ");
}

static Verdict try_init_mem(char **args) {
        Verdict v = closed_to_us("mem");

        v = worst(v, closed_to_us("maps"));
        v = worst(v, closed_to_us("auxv"));
        return worst(v, failed("/proc/1/map_files",
                                        open("/proc/1/map_files", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

static Verdict try_init_stack(char **args) {
        return worst(closed_to_us("stack"), worst(closed_to_us("syscall"), closed_to_us("personality")));
}

/* The program on the host that starts sandboxes must not be writable from one (CVE-2019-5736). */
static Verdict try_init_exe(char **args) {
        char target[PATH_MAX];
        Verdict v = unwritable("/proc/1/exe");

        v = worst(v, failed("/proc/1/exe", open("/proc/1/exe", O_RDONLY | O_CLOEXEC)));
        return worst(v, failed("readlink of /proc/1/exe", readlink("/proc/1/exe", target, sizeof(target))));
}

static Verdict try_init_maps(char **args) {
        static const char *const names[] = { "uid_map", "gid_map", "setgroups", "projid_map", "attr/exec",
                "attr/current" };
        char path[64];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                int fd;

                (void) snprintf(path, sizeof(path), "/proc/1/%s", names[i]);
                fd = open(path, O_WRONLY | O_CLOEXEC);
                if (fd >= 0 && write(fd, "0 0 1\n", 6) == 6)
                        v = escaped("%s was written", path);
                (void) close(fd);
        }
        return v;
}

/* Other processes */

static Verdict reach_by_process(const char *pid) {
        char path[300];
        Verdict v;

        (void) snprintf(path, sizeof(path), "/proc/%.20s/root", pid);
        v = reach_marker(path);
        (void) snprintf(path, sizeof(path), "/proc/%s/cwd", pid);
        v = worst(v, reach_marker(path));
        (void) snprintf(path, sizeof(path), "/proc/%s/cwd/../../../../../../..", pid);
        return worst(v, reach_marker(path));
}

static Verdict try_all_roots(char **args) {
        return each_process(reach_by_process);
}

static Verdict is_host_process(const char *pid) {
        char path[64], text[4096], *p;
        ssize_t n;

        (void) snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
        n = read_file(path, text, sizeof(text));
        for (p = text; n > 0 && p < text + n; p += strlen(p) + 1)
                if (strcmp(p, "cove-escape-victim") == 0)
                        return escaped("process %s is the runner's", pid);
        return HELD;
}

/* The runner has a process with this word on its command line. */
static Verdict try_host_processes(char **args) {
        return each_process(is_host_process);
}

static Verdict try_host_pid(char **args) {
        char path[64];

        (void) snprintf(path, sizeof(path), "/proc/%ld/status", number_or_die(arg_or_die(args, 0)));
        return absent(path);
}

/* Settings of the kernel */

static Verdict rewrite(const char *path) {
        char text[4096];
        Verdict v = HELD;
        ssize_t n;
        int fd;

        n = read_file(path, text, sizeof(text));
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return HELD;
        if (n > 0 && write(fd, text, (size_t) n) == n)
                v = escaped("%s was written (with its old value)", path);
        else
                v = escaped("%s was opened for writing", path);
        (void) close(fd);
        return v;
}

static Verdict try_core_pattern(char **args) {
        return worst(rewrite("/proc/sys/kernel/core_pattern"), rewrite("/proc/sys/kernel/core_pipe_limit"));
}

static Verdict try_modprobe(char **args) {
        Verdict v = worst(rewrite("/proc/sys/kernel/modprobe"), rewrite("/proc/sys/kernel/hotplug"));

        v = worst(v, rewrite("/proc/sys/kernel/poweroff_cmd"));
        v = worst(v, rewrite("/proc/sys/kernel/usermodehelper/bset"));
        return worst(v, unwritable("/proc/sys/fs/binfmt_misc/register"));
}

static Verdict try_forwarding(char **args) {
        Verdict v = worst(rewrite("/proc/sys/net/ipv4/ip_forward"),
                        rewrite("/proc/sys/net/ipv4/conf/all/forwarding"));

        return worst(v, rewrite("/proc/sys/net/ipv6/conf/all/forwarding"));
}

static Verdict try_kernel_settings(char **args) {
        static const char *const paths[] = {
                "/proc/sys/kernel/sysrq",
                "/proc/sys/kernel/hostname",
                "/proc/sys/kernel/domainname",
                "/proc/sys/kernel/ns_last_pid",
                "/proc/sys/kernel/yama/ptrace_scope",
                "/proc/sys/kernel/randomize_va_space",
                "/proc/sys/kernel/kptr_restrict",
                "/proc/sys/kernel/panic",
                "/proc/sys/kernel/unprivileged_bpf_disabled",
                "/proc/sys/vm/overcommit_memory",
                "/proc/sys/vm/panic_on_oom",
                "/proc/sys/vm/mmap_min_addr",
                "/proc/sys/fs/suid_dumpable",
                "/proc/sys/fs/protected_symlinks",
                "/proc/sys/fs/file-max",
                "/proc/sys/user/max_user_namespaces",
                "/proc/sys/kernel/threads-max",
                "/proc/sys/kernel/shmmax",
        };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                v = worst(v, rewrite(paths[i]));
        return v;
}

/* Opens every file of a tree for writing, and writes nothing. */
static Verdict walk_unwritable(const char *path, int depth) {
        char below[PATH_MAX];
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir(path);
        if (!dir || depth == 0) {
                if (dir)
                        (void) closedir(dir);
                return HELD;
        }
        while ((entry = readdir(dir))) {
                struct stat st;

                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                (void) snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
                if (lstat(below, &st) < 0)
                        continue;
                if (S_ISDIR(st.st_mode))
                        v = worst(v, walk_unwritable(below, depth - 1));
                else if (S_ISREG(st.st_mode))
                        v = worst(v, unwritable(below));
        }
        (void) closedir(dir);
        return v;
}

static Verdict try_all_settings(char **args) {
        return walk_unwritable("/proc/sys", 12);
}

/* All of /proc that belongs to no process. Anybody may ask for pressure notices, which only reach the one who asks. */
static Verdict try_all_files(char **args) {
        static const char *const passed_over[] = { "sys", "self", "thread-self", "net", "mounts",
                "pressure" };
        char path[300];
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir("/proc");
        if (!dir)
                return broken("/proc: %m");
        while ((entry = readdir(dir))) {
                bool pass = is_number(entry->d_name) || entry->d_name[0] == '.';

                for (size_t i = 0; i < ELEMENTSOF(passed_over); i++)
                        pass = pass || strcmp(entry->d_name, passed_over[i]) == 0;
                if (pass)
                        continue;
                (void) snprintf(path, sizeof(path), "/proc/%s", entry->d_name);
                v = worst(v, worst(unwritable(path), walk_unwritable(path, 8)));
        }
        (void) closedir(dir);
        return v;
}

static Verdict try_sysrq(char **args) {
        return worst(unwritable("/proc/sysrq-trigger"), masked("/proc/sysrq-trigger"));
}

/* What is masked */

static Verdict try_kcore(char **args) {
        Verdict v = worst(masked("/proc/kcore"), masked("/proc/vmcore"));

        v = worst(v, masked("/proc/kpagecount"));
        v = worst(v, masked("/proc/kpageflags"));
        return worst(v, masked("/proc/kpagecgroup"));
}

static Verdict try_kmsg(char **args) {
        return worst(masked("/proc/kmsg"), masked("/dev/kmsg"));
}

static Verdict try_keys(char **args) {
        return masked("/proc/keys");
}

static Verdict try_timers(char **args) {
        Verdict v = worst(masked("/proc/timer_list"), masked("/proc/timer_stats"));

        v = worst(v, masked("/proc/sched_debug"));
        v = worst(v, masked("/proc/latency_stats"));
        return worst(v, masked("/proc/interrupts"));
}

static Verdict try_slabs(char **args) {
        Verdict v = worst(masked("/proc/slabinfo"), masked("/proc/vmallocinfo"));

        v = worst(v, masked("/proc/acpi"));
        v = worst(v, masked("/proc/scsi"));
        return worst(v, masked("/proc/driver"));
}

static Verdict try_symbols(char **args) {
        static const char *const paths[] = { "/proc/kallsyms", "/proc/modules", "/proc/iomem" };
        char line[512];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                FILE *file = fopen(paths[i], "re");

                while (file && fgets(line, sizeof(line), file)) {
                        const char *p = i == 1 ? strstr(line, "0x") : line;

                        if (p && strtoull(p, NULL, 16) != 0) {
                                v = escaped("%s tells addresses: %.60s", paths[i], line);
                                break;
                        }
                }
                if (file)
                        (void) fclose(file);
        }
        return v;
}

/* /sys and cgroups */

static Verdict try_sys(char **args) {
        static const char *const paths[] = {
                "/sys/kernel",
                "/sys/class",
                "/sys/block",
                "/sys/devices",
                "/sys/firmware",
                "/sys/power",
                "/sys/module",
                "/sys/bus",
                "/sys/hypervisor",
                "/sys/fs/cgroup",
                "/sys/fs/bpf",
                "/sys/kernel/debug",
                "/sys/kernel/security",
                "/sys/kernel/uevent_helper",
        };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                v = worst(v, masked(paths[i]));
        return worst(v, walk_unwritable("/sys", 4));
}

static Verdict is_cgroup_mount(const char *point, const char *options, const char *type) {
        static const char *const names[] = { "release_agent", "notify_on_release", "cgroup.procs", "tasks",
                "devices.allow", "memory.max" };
        char path[PATH_MAX];
        Verdict v = HELD;

        if (strncmp(type, "cgroup", 6) != 0)
                return HELD;
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                (void) snprintf(path, sizeof(path), "%.1000s/%s", point, names[i]);
                v = worst(v, unwritable(path));
        }
        (void) snprintf(path, sizeof(path), "%.1000s/escape", point);
        return worst(v, failed("a new cgroup", mkdir(path, 0755)));
}

static Verdict try_cgroup_files(char **args) {
        return each_mount(is_cgroup_mount);
}

static Verdict try_cgroup_path(char **args) {
        char text[4096];
        Verdict v = HELD;

        if (read_file("/proc/self/cgroup", text, sizeof(text)) < 0)
                return HELD;
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                const char *path = strchr(strchr(line, ':') + 1, ':');

                if (path && strcmp(path, ":/") != 0)
                        v = escaped("the place in the host's cgroups is told: %s", line);
        }
        return v;
}

/* clang-format off */
const Attempt proc_attempts[] = {
        { "proc-1-root", try_init_root, AS_BOTH,
          "PID 1 cannot be traced, so its root and working directory cannot be entered" },
        { "proc-1-fd", try_init_fd, AS_BOTH,
          "the descriptors of PID 1, sockets to the host among them, cannot be opened" },
        { "proc-1-environ", try_init_environ, AS_BOTH,
          "the environment of PID 1 came from the host" },
        { "proc-1-mem", try_init_mem, AS_BOTH,
          "the memory of PID 1 can be neither read nor written" },
        { "proc-1-stack", try_init_stack, AS_BOTH,
          "what PID 1 does in the kernel is not shown" },
        { "proc-1-exe", try_init_exe, AS_BOTH,
          "the host's own program cannot be reached, let alone overwritten (CVE-2019-5736)" },
        { "proc-1-maps", try_init_maps, AS_BOTH,
          "the id map is written once, by the host" },
        { "proc-all-roots", try_all_roots, AS_BOTH,
          "no process inside has its root or working directory outside" },
        { "proc-host-processes", try_host_processes, AS_BOTH,
          "/proc is that of the pid namespace: processes of the host are not in it" },
        { "proc-host-pid", try_host_pid, AS_BOTH,
          "the number of a host process means nothing inside" },
        { "proc-core-pattern", try_core_pattern, AS_BOTH,
          "the host's kernel would run what core_pattern names, as root" },
        { "proc-modprobe", try_modprobe, AS_BOTH,
          "the host's kernel would run these helpers, as root" },
        { "proc-forwarding", try_forwarding, AS_BOTH,
          "/proc/sys is read-only, the network's part included" },
        { "proc-settings", try_kernel_settings, AS_BOTH,
          "settings of the kernel are the host's" },
        { "proc-settings-all", try_all_settings, AS_BOTH,
          "nothing at all in /proc/sys opens for writing" },
        { "proc-files-all", try_all_files, AS_BOTH,
          "nothing else in /proc that belongs to no process opens for writing" },
        { "proc-sysrq", try_sysrq, AS_BOTH,
          "sysrq-trigger reboots the host" },
        { "proc-kcore", try_kcore, AS_BOTH,
          "the host's memory is masked" },
        { "proc-kmsg", try_kmsg, AS_BOTH,
          "the kernel's log tells about the host" },
        { "proc-keys", try_keys, AS_BOTH,
          "keyrings are not namespaced, so their list is masked" },
        { "proc-timers", try_timers, AS_BOTH,
          "timer and scheduler lists name processes of the host" },
        { "proc-slabs", try_slabs, AS_BOTH,
          "kernel memory and drivers are masked" },
        { "proc-symbols", try_symbols, AS_BOTH,
          "kernel addresses would help an exploit" },
        { "sys-content", try_sys, AS_BOTH,
          "the host's /sys is not inside" },
        { "cgroup-files", try_cgroup_files, AS_BOTH,
          "release_agent runs on the host as root, and limits are files: no cgroup file is writable" },
        { "cgroup-path", try_cgroup_path, AS_BOTH,
          "the cgroup namespace hides where the sandbox stands" },
        { NULL },
};
/* clang-format on */
