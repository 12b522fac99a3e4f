/* zygote-sandbox.c: opens the descriptors for entering a sandbox.
 *
 * The sandbox's cgroup tells its PID 1. Everything else is read from that process through one open directory of
 * /proc, so that another process cannot take its pid meanwhile. */

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/ids.h"
#include "spawner/zygote-internal.h"

#define PROCESSES_MAX 65536 /* bytes of a group's list, in which PID 1 is among the first */

/* "NSpid: 4711 1": the first of a namespace below ours. */
static bool is_first_of_its_kind(int proc_fd) {
        char text[4096];
        const char *line;
        int outside, inside, rest;

        if (file_read(proc_fd, "status", text, sizeof(text)) < 0)
                return false;
        line = strstr(text, "\nNSpid:");
        return line && sscanf(line, "\nNSpid:\t%d\t%d\t%d", &outside, &inside, &rest) == 2 && inside == 1;
}

static int open_proc(pid_t pid) {
        char path[32];
        int fd;

        (void) snprintf(path, sizeof(path), "/proc/%d", pid);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (is_first_of_its_kind(fd))
                return fd;
        (void) close(fd);
        return -ESRCH;
}

/* Finds PID 1 of a sandbox that a former worker made. */
static int find_by_group(const Cgroup *cg) {
        _cleanup_free_ char *text = NULL;
        char path[CGROUP_PATH_MAX + 16];
        char *save = NULL;
        size_t size;
        int r, fd;

        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
                if (!cg->dirs[i].path[0])
                        continue;
                (void) snprintf(path, sizeof(path), "%s/cgroup.procs", cg->dirs[i].path);
                r = file_read_alloc(AT_FDCWD, path, PROCESSES_MAX, &text, &size);
                if (r < 0)
                        return r;
                for (const char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                        fd = open_proc(atoi(line));
                        if (fd >= 0)
                                return fd;
                }
                break;
        }
        return -ESRCH;
}

static bool zygote_sandbox_is_same(int a, int b) {
        struct stat x, y;

        return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* All of them must belong to the sandbox's own user namespace: the owner of that may enter. */
static int open_namespaces(int proc_fd, ZygoteDoor *d) {
        static const char *const names[_ZYGOTE_NAMESPACE_MAX] = {
                [ZYGOTE_USER] = "ns/user", [ZYGOTE_PID] = "ns/pid",       [ZYGOTE_IPC] = "ns/ipc",   [ZYGOTE_UTS] = "ns/uts",
                [ZYGOTE_NET] = "ns/net",   [ZYGOTE_CGROUP] = "ns/cgroup", [ZYGOTE_MOUNT] = "ns/mnt", [ZYGOTE_TIME] = "ns/time",
        };

        for (int i = 0; i < _ZYGOTE_NAMESPACE_MAX; i++) {
                _cleanup_close_ int owner = -EBADF;

                d->namespaces[i] = openat(proc_fd, names[i], O_RDONLY | O_CLOEXEC);
                if (d->namespaces[i] < 0)
                        return -errno;
                if (i == ZYGOTE_USER)
                        continue;
                owner = ioctl(d->namespaces[i], NS_GET_USERNS);
                if (owner < 0 || !zygote_sandbox_is_same(owner, d->namespaces[ZYGOTE_USER]))
                        return -EOPNOTSUPP;
        }
        return ioctl(d->namespaces[ZYGOTE_USER], NS_GET_OWNER_UID, &d->owner) < 0 ? -errno : 0;
}

/* Memory and processes first: copied memory counts already, and neither group stops or slows a process down. */
static int open_tasks(ZygoteDoor *d) {
        for (CgroupController c = 0; d->cgroup.version == CGROUP_V1 && c < _CGROUP_CONTROLLER_MAX; c++) {
                char path[CGROUP_PATH_MAX + 16];
                int fd;

                if (!d->cgroup.dirs[c].path[0])
                        continue;
                (void) snprintf(path, sizeof(path), "%s/tasks", d->cgroup.dirs[c].path);
                fd = open(path, O_WRONLY | O_CLOEXEC);
                if (fd < 0)
                        return -errno;
                d->tasks[d->n_tasks++] = fd;
                if (c == CGROUP_MEMORY || c == CGROUP_PIDS)
                        d->n_early++;
        }
        return 0;
}

static bool is_enterable(uid_t owner) {
        return id_range_has(owner) && owner % ID_RANGE_SIZE != 0;
}

static int zygote_sandbox_look(const Spawner *s, const char *id, ZygoteDoor *d) {
        const Child *child = children_find(&s->children, id);
        _cleanup_close_ int proc = -EBADF;
        int r;

        r = cgroup_find(s->options->instance, id, &d->cgroup);
        if (r < 0)
                return r;
        proc = child && child->pid > 0 ? open_proc(child->pid) : find_by_group(&d->cgroup);
        if (proc < 0)
                return proc;
        r = open_namespaces(proc, d);
        if (r >= 0 && !is_enterable(d->owner))
                r = -EOPNOTSUPP;
        return r < 0 ? r : open_tasks(d);
}

int zygote_door_open(const Spawner *s, const char *id, ZygoteDoor *ret, Error *reterr) {
        int r;

        *ret = (ZygoteDoor) { .cgroup = CGROUP_EMPTY };
        for (int i = 0; i < _ZYGOTE_NAMESPACE_MAX; i++)
                ret->namespaces[i] = -EBADF;
        r = zygote_sandbox_look(s, id, ret);
        if (r >= 0)
                return 0;
        zygote_door_close(ret);
        if (r == -EOPNOTSUPP)
                return error_set(reterr, r, "sandbox %s was not made to be entered by a zygote", id);
        return error_set(reterr, r, "sandbox %s cannot be entered: %m", id);
}

void zygote_door_close(ZygoteDoor *d) {
        for (int i = 0; i < _ZYGOTE_NAMESPACE_MAX; i++)
                d->namespaces[i] = fd_close(d->namespaces[i]);
        while (d->n_tasks > 0)
                (void) fd_close(d->tasks[--d->n_tasks]);
}

int zygote_move_in(const Spawner *s, const char *id, pid_t pid) {
        char path[CGROUP_PATH_MAX + 16];
        Cgroup cg;
        int r = cgroup_find(s->options->instance, id, &cg);

        if (r < 0)
                return r;
        (void) snprintf(path, sizeof(path), "%s/cgroup.procs", cg.dirs[0].path);
        return file_write_format(AT_FDCWD, path, "%d", pid);
}
