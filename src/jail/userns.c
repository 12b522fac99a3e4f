#include "jail/userns.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

static int proc_write(pid_t pid, const char *name, const char *text) {
        char path[64];

        (void) snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
        return file_write(AT_FDCWD, path, text);
}

int userns_write_maps(pid_t pid, const IdMap *map) {
        char line[64];
        int r;

        if (map->single) {
                r = proc_write(pid, "setgroups", "deny"); /* the kernel requires it before a plain user's gid_map */
                if (r < 0)
                        return r;
        }
        (void) snprintf(line, sizeof(line), "%u %u %u", map->inside_uid, map->outside_uid, map->count);
        r = proc_write(pid, "uid_map", line);
        if (r < 0)
                return r;
        (void) snprintf(line, sizeof(line), "%u %u %u", map->inside_gid, map->outside_gid, map->count);
        return proc_write(pid, "gid_map", line);
}

int userns_open(pid_t pid) {
        char path[64];
        int fd;

        (void) snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int userns_make(const IdMap *map) {
        struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
        pid_t pid, parent = getpid();
        int fd, r;

        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                while (getppid() == parent)
                        (void) pause();
                _exit(0);
        }

        r = userns_write_maps(pid, map);
        fd = r < 0 ? r : userns_open(pid);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        return fd;
}

int userns_is_host_root(void) {
        char map[128];
        unsigned inside, outside, count;
        ssize_t n;

        if (geteuid() != 0)
                return false;
        n = file_read(AT_FDCWD, "/proc/self/uid_map", map, sizeof(map));
        if (n < 0)
                return (int) n;
        return sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
               count == UINT32_MAX;
}
