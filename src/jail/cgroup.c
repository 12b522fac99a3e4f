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

static const CgroupOps *ops_of(const Cgroup *cg) {
        return cg->version == CGROUP_V2 ? &cgroup_v2_ops : &cgroup_v1_ops;
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

int cgroup_plan(const char *id, Cgroup *ret, Error *reterr) {
        Cgroup cg = { .version = cgroup_detect() };
        char name[64];
        int r;

        if (cg.version == CGROUP_NONE)
                return error_set(reterr, -EOPNOTSUPP, "no cgroup file system at " CGROUP_MOUNT);
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
                cg.dirs[i].fd = cg.dirs[i].enter_fd = -EBADF;

        (void) snprintf(name, sizeof(name), "cove-%s", id);
        r = ops_of(&cg)->plan(&cg, name, reterr);
        if (r < 0)
                return r;
        *ret = cg;
        return 0;
}

int cgroup_make(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr) {
        int r = ops_of(cg)->make(cg, limits, ret_missing, reterr);

        if (r < 0)
                (void) cgroup_remove(cg, /* patience= */ 0);
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
        if (ret->pids_peak > 0)
                ret->pids_peak--; /* PID 1 is ours, as in the limit */
        return 0;
}

int cgroup_cpu_usec(const Cgroup *cg, usec_t *ret) {
        if (cg->version == CGROUP_NONE)
                return -EOPNOTSUPP;
        return ops_of(cg)->cpu_usec(cg, ret);
}

static int dir_remove(const CgroupOps *ops, CgroupDir *dir, usec_t deadline) {
        if (!dir->path[0])
                return 0;
        for (;;) {
                if (rmdir(dir->path) == 0 || errno == ENOENT)
                        return 0;
                if (errno != EBUSY)
                        return -errno;
                if (clock_usec() >= deadline)
                        return -EBUSY;
                (void) ops->kill(dir);
                (void) usleep(REMOVE_POLL_USEC);
        }
}

int cgroup_remove(Cgroup *cg, usec_t patience) {
        usec_t deadline = clock_usec() + patience;
        int r = 0;

        if (cg->version == CGROUP_NONE)
                return 0;
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
                int q = dir_remove(ops_of(cg), cg->dirs + i, deadline);
                if (q < 0)
                        r = q;
        }
        if (ops_of(cg)->leave)
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
        if (dir->fd < 0)
                return error_set(reterr, -errno, "cannot open cgroup %s: %m", dir->path);
        return 0;
}

int cgroup_limit(const CgroupDir *dir, const char *file, uint64_t value, Error *reterr) {
        int r = file_write_format(dir->fd, file, "%llu", (unsigned long long) value);
        if (r < 0)
                return error_set(reterr, r, "cannot write %llu to %s/%s: %m", (unsigned long long) value,
                                dir->path, file);
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
