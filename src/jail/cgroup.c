#include "jail/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/cgroup-ops.h"

#define REMOVE_POLL_USEC 500
#define NAME_MAX_BYTES   64

const CgroupOps *cgroup_ops(CgroupVersion version) {
        return version == CGROUP_V2 ? &cgroup_v2_ops : &cgroup_v1_ops;
}

static const CgroupOps *ops_of(const Cgroup *cg) {
        return cgroup_ops(cg->version);
}

CgroupVersion cgroup_detect(void) {
        struct statfs fs;

        if (statfs(CGROUP_MOUNT, &fs) < 0)
                return CGROUP_NONE;
        if (fs.f_type == CGROUP2_SUPER_MAGIC)
                return CGROUP_V2;
        if (statfs(CGROUP_MOUNT "/memory", &fs) == 0 && fs.f_type == CGROUP_SUPER_MAGIC)
                return CGROUP_V1;
        return CGROUP_NONE;
}

static int plan(const char *name, bool lasting, Cgroup *ret, Error *reterr) {
        Cgroup cg = { .version = cgroup_detect(), .lasting = lasting };
        int r;

        if (cg.version == CGROUP_NONE)
                return error_set(reterr, -EOPNOTSUPP, "no cgroup file system at " CGROUP_MOUNT);
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
                cg.dirs[i].fd = cg.dirs[i].enter_fd = -EBADF;

        r = ops_of(&cg)->plan(&cg, name, reterr);
        if (r < 0)
                return r;
        *ret = cg;
        return 0;
}

int cgroup_plan(const char *id, Cgroup *ret, Error *reterr) {
        char name[NAME_MAX_BYTES];

        (void) snprintf(name, sizeof(name), "cove-%s", id);
        return plan(name, /* lasting= */ false, ret, reterr);
}

int cgroup_plan_lasting(const char *instance, const char *id, Cgroup *ret, Error *reterr) {
        char name[NAME_MAX_BYTES];

        if ((size_t) snprintf(name, sizeof(name), "cove-%s-%s", instance, id) >= sizeof(name))
                return error_set(reterr, -ENAMETOOLONG, "'%s' is too long for the name of an instance", instance);
        return plan(name, /* lasting= */ true, ret, reterr);
}

/* A group of the same name that we have not made must not be removed. */
static void forget_unmade(Cgroup *cg) {
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
                if (cg->dirs[i].fd < 0)
                        cg->dirs[i].path[0] = '\0';
}

int cgroup_make(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr) {
        int r = ops_of(cg)->make(cg, limits, ret_missing, reterr);

        if (r < 0) {
                forget_unmade(cg);
                (void) cgroup_remove(cg, /* patience= */ 0);
        }
        return r;
}

int cgroup_clone_fd(const Cgroup *cg) {
        return cg->version == CGROUP_V2 ? cg->dirs[0].fd : -EBADF;
}

size_t cgroup_enter_fds(const Cgroup *cg, int ret_fds[static _CGROUP_CONTROLLER_MAX]) {
        size_t n = 0;

        for (size_t i = 0; cg->version == CGROUP_V1 && i < _CGROUP_CONTROLLER_MAX; i++)
                if (cg->dirs[i].enter_fd >= 0)
                        ret_fds[n++] = cg->dirs[i].enter_fd;
        return n;
}

int cgroup_enter(const int *fds, size_t n_fds) {
        for (size_t i = 0; i < n_fds; i++)
                if (write(fds[i], "0", 1) < 0)
                        return -errno;
        return 0;
}

int cgroup_usage(const Cgroup *cg, CgroupUsage *ret) {
        memset(ret, 0, sizeof(*ret));
        if (cg->version == CGROUP_NONE)
                return -EOPNOTSUPP;
        (void) ops_of(cg)->usage(cg, ret);
        /* PID 1 is cove's and does not count, as in the limit. */
        if (ret->pids_peak > 0)
                ret->pids_peak--;
        if (ret->pids > 0)
                ret->pids--;
        return 0;
}

int cgroup_open_memory_usage(const Cgroup *cg) {
        const char *file = cg->version == CGROUP_V2 ? "memory.current" : "memory.usage_in_bytes";
        int fd = openat(cg->dirs[CGROUP_MEMORY].fd, file, O_RDONLY | O_CLOEXEC); /* the first, which is v2's for all */

        return fd < 0 ? -errno : fd;
}

int cgroup_cpu_usec(const Cgroup *cg, usec_t *ret) {
        if (cg->version == CGROUP_NONE)
                return -EOPNOTSUPP;
        return ops_of(cg)->cpu_usec(cg, ret);
}

int cgroup_freeze(const Cgroup *cg, bool freeze) {
        if (cg->version == CGROUP_NONE)
                return -EOPNOTSUPP;
        return ops_of(cg)->freeze(cg, freeze);
}

int cgroup_reclaim(const Cgroup *cg) {
        if (cg->version == CGROUP_NONE)
                return -EOPNOTSUPP;
        return ops_of(cg)->reclaim(cg);
}

/* A v1 freezer keeps killed processes from dying until they are thawed. */
static void cgroup_kill_all(const Cgroup *cg) {
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
                if (cg->dirs[i].path[0])
                        (void) ops_of(cg)->kill(cg->dirs + i);
        if (cg->version == CGROUP_V1 && cg->dirs[CGROUP_FREEZER].path[0])
                (void) cgroup_freeze(cg, false);
}

int cgroup_try_remove(Cgroup *cg) {
        bool busy = false;
        int r = 0;

        if (cg->version == CGROUP_NONE)
                return 0;
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
                char *path = cg->dirs[i].path;

                if (!path[0])
                        continue;
                if (rmdir(path) == 0 || errno == ENOENT)
                        path[0] = '\0';
                else if (errno == EBUSY)
                        busy = true;
                else
                        r = -errno;
        }
        if (busy)
                cgroup_kill_all(cg);
        return busy ? -EBUSY : r;
}

int cgroup_remove(Cgroup *cg, usec_t patience) {
        usec_t deadline = clock_usec() + patience;
        int r;

        if (cg->version == CGROUP_NONE)
                return 0;
        while ((r = cgroup_try_remove(cg)) == -EBUSY && clock_usec() < deadline)
                (void) usleep(REMOVE_POLL_USEC);
        if (ops_of(cg)->leave && !cg->lasting)
                ops_of(cg)->leave(cg);
        return r;
}

void cgroup_close(Cgroup *cg) {
        if (cg->version == CGROUP_NONE)
                return;
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
                cg->dirs[i].fd = fd_close(cg->dirs[i].fd);
                cg->dirs[i].enter_fd = fd_close(cg->dirs[i].enter_fd);
        }
}

/* Helpers of the two versions. */

int cgroup_dir_make(CgroupDir *dir, Error *reterr) {
        if (mkdir(dir->path, 0755) < 0)
                return error_set(reterr, -errno, "cannot make cgroup %s: %m", dir->path);
        dir->fd = open(dir->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir->fd < 0) {
                int r = -errno;
                (void) rmdir(dir->path);
                return error_set(reterr, r, "cannot open cgroup %s: %m", dir->path);
        }
        return 0;
}

void cgroup_file_path(const CgroupDir *dir, const char *file, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s/%s", dir->path, file);
}

/* The list has one pid per line and any length; each pid is killed as it is read. A pid can be reused in
 * between only after the kernel has gone through all pids. */
int cgroup_kill_listed(const CgroupDir *dir) {
        char path[CGROUP_FILE_MAX], chunk[4096];
        _cleanup_close_ int fd = -EBADF;
        pid_t pid = 0;
        ssize_t n;

        cgroup_file_path(dir, "cgroup.procs", path, sizeof(path));
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        while ((n = fd_read_full(fd, chunk, sizeof(chunk))) > 0)
                for (ssize_t i = 0; i < n; i++) {
                        if (chunk[i] >= '0' && chunk[i] <= '9') {
                                pid = pid * 10 + (chunk[i] - '0');
                                continue;
                        }
                        if (pid > 1)
                                (void) kill(pid, SIGKILL);
                        pid = 0;
                }
        return (int) n;
}

static bool cgroup_dir_is_empty(const CgroupDir *dir, bool v2) {
        char path[CGROUP_FILE_MAX], text[256];
        int r;

        cgroup_file_path(dir, v2 ? "cgroup.events" : "cgroup.procs", path, sizeof(path));
        r = file_read(AT_FDCWD, path, text, sizeof(text));
        return r >= 0 && (v2 ? strstr(text, "populated 0\n") != NULL : text[0] == '\0');
}

bool cgroup_is_empty(const Cgroup *cg) {
        bool found = false;

        for (size_t i = 0; i < ELEMENTSOF(cg->dirs); i++) {
                if (!cg->dirs[i].path[0])
                        continue;
                found = true;
                if (!cgroup_dir_is_empty(cg->dirs + i, cg->version == CGROUP_V2))
                        return false;
        }
        return found;
}

int cgroup_limit(const CgroupDir *dir, const char *file, uint64_t value, Error *reterr) {
        int r = file_write_format(dir->fd, file, "%llu", (unsigned long long) value);
        if (r < 0)
                return error_set(reterr, r, "cannot set %s of the sandbox's cgroup to %llu: %m", file, (unsigned long long) value);
        return 0;
}

/* A line is "4:memory:/path", in v1 also "3:cpu,cpuacct:/path", in v2 "0::/path". */
static bool line_has_controller(const char *line, const char *controller, const char **ret_path) {
        const char *names = strchr(line, ':'), *end = names ? strchr(names + 1, ':') : NULL;
        size_t n = strlen(controller);

        if (!end)
                return false;
        *ret_path = end + 1;
        names++;
        if (n == 0)
                return names == end;
        while (names < end) {
                size_t length = strcspn(names, ",:");
                if (length == n && memcmp(names, controller, n) == 0)
                        return true;
                names += length + 1;
        }
        return false;
}

int cgroup_own_path(const char *text, const char *controller, char *ret, size_t size) {
        for (const char *line = text; *line;) {
                const char *end = strchrnul(line, '\n'), *path;

                if (line_has_controller(line, controller, &path) && path <= end) {
                        size_t n = (size_t) (end - path);

                        if (n == 1)
                                n = 0;
                        if (n >= size)
                                return -ENAMETOOLONG;
                        memcpy(ret, path, n);
                        ret[n] = '\0';
                        return 0;
                }
                line = *end ? end + 1 : end;
        }
        return -ENOENT;
}

int cgroup_read_key(int dirfd, const char *file, const char *key, uint64_t *ret) {
        char text[4096], *state = NULL;
        size_t n = strlen(key);
        ssize_t size = file_read(dirfd, file, text, sizeof(text));

        if (size < 0)
                return (int) size;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
                if (strncmp(line, key, n) == 0 && line[n] == ' ') {
                        *ret = strtoull(line + n + 1, NULL, 10);
                        return 0;
                }
        return -ENOENT;
}
