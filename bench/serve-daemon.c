#include "serve-daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "child.h"
#include "probe.h"
#include "serve-http.h"

#define SERVE_PATIENCE  (60 * USEC_PER_SEC)
#define SERVE_STOP      (300 * USEC_PER_SEC) /* it ends all of its sandboxes first */
#define DAEMON_WORDS    16
#define SERVE_POLL      500u /* microseconds */
#define SERVE_CGROUPS   "/sys/fs/cgroup"
#define SERVE_WALK_FDS  16
#define SERVE_FILES_MAX "16G" /* of journals: the streams are kept while they are measured */

int serve_daemon_init(ServeDaemon *d, const char *cove) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
        unsigned char random[SERVE_INSTANCE_LENGTH];

        if (getrandom(random, sizeof(random), 0) != (ssize_t) sizeof(random))
                return -EIO;
        *d = (ServeDaemon) { .cove = cove };
        for (size_t i = 0; i < SERVE_INSTANCE_LENGTH; i++)
                d->instance[i] = letters[random[i] % 32];
        return 0;
}

static int state_make(ServeDaemon *d, const char *scratch_dir) {
        _cleanup_close_ int fd = -EBADF;
        char path[128];

        (void) snprintf(d->state, sizeof(d->state), "%s/serve", scratch_dir);
        (void) snprintf(d->socket_path, sizeof(d->socket_path), "%s/cove.sock", d->state);
        (void) snprintf(d->log_path, sizeof(d->log_path), "%s/serve.log", scratch_dir);
        if (mkdir(d->state, 0700) < 0)
                return errno == EEXIST ? 0 : -errno;
        (void) snprintf(path, sizeof(path), "%s/instance", d->state);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        return fd_write_all(fd, d->instance, SERVE_INSTANCE_LENGTH);
}

int serve_daemon_configure(ServeDaemon *d, const char *scratch_dir, const char *text) {
        _cleanup_close_ int fd = -EBADF;

        (void) snprintf(d->config_path, sizeof(d->config_path), "%s/cove.yaml", scratch_dir);
        fd = open(d->config_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

/* setpriv takes root's right to raise its limits away. */
static void words_init(const ServeDaemon *d, const char *files, const char *words[static DAEMON_WORDS]) {
        const char *const limit[] = { "/usr/bin/setpriv", "--bounding-set=-sys_resource", "/usr/bin/prlimit", files };
        const char *const serve[] = { d->cove, "serve", "--state", d->state, "--listen", "none", "--stop-all", "--journals", SERVE_FILES_MAX };
        size_t n = 0;

        for (size_t i = geteuid() == 0 ? 0 : 2; i < ELEMENTSOF(limit) && d->files > 0; i++)
                words[n++] = limit[i];
        for (size_t i = 0; i < ELEMENTSOF(serve); i++)
                words[n++] = serve[i];
        if (d->config_path[0]) {
                words[n++] = "--config";
                words[n++] = d->config_path;
        }
}

int serve_daemon_start(ServeDaemon *d, const char *scratch_dir, Error *reterr) {
        const char *words[DAEMON_WORDS] = {};
        char files[32];
        _cleanup_close_ int log_fd = -EBADF;
        int stdio[3], r;

        r = state_make(d, scratch_dir);
        if (r < 0)
                return error_set(reterr, r, "state directory: %m");
        log_fd = open(d->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (log_fd < 0)
                return error_set(reterr, -errno, "make '%s': %m", d->log_path);
        stdio[0] = child_quiet[0];
        stdio[1] = stdio[2] = log_fd;
        (void) snprintf(files, sizeof(files), "--nofile=%u", d->files);
        words_init(d, files, words);
        r = child_start(words, stdio, &d->pid);
        return r < 0 ? error_set(reterr, r, "start '%s serve': %m", d->cove) : 0;
}

static bool is_ready(const ServeDaemon *d) {
        _cleanup_(http_done) Http h = HTTP_EMPTY;

        return http_open(&h, d->socket_path) >= 0 &&
               http_call(&h, "GET", "/healthz", NULL, NULL, 200) >= 0 &&
               strstr(http_answer_body(&h), "\"ok\"");
}

int serve_daemon_wait(const ServeDaemon *d, Error *reterr) {
        usec_t until = clock_usec() + SERVE_PATIENCE;

        while (!is_ready(d)) {
                char line[ERROR_TEXT_MAX / 2];

                if (child_interrupted())
                        return error_set(reterr, -EINTR, "interrupted");
                if (clock_usec() > until || waitpid(d->pid, /* status= */ NULL, WNOHANG) != 0) {
                        probe_last_line(d->log_path, line, sizeof(line));
                        return error_set(reterr, -ETIME, "the daemon does not answer: %s", line);
                }
                (void) usleep(SERVE_POLL);
        }
        return 0;
}

void serve_daemon_kill(ServeDaemon *d) {
        child_kill(d->pid);
        d->pid = 0;
}

int serve_daemon_stop(ServeDaemon *d, Error *reterr) {
        int status, r;

        if (d->pid <= 0)
                return 0;
        (void) kill(d->pid, SIGTERM);
        child_deadline(SERVE_STOP);
        r = child_wait(d->pid, /* ret_pid= */ NULL, &status);
        child_deadline(0);
        if (r < 0) {
                serve_daemon_kill(d);
                return error_set(reterr, r, "the daemon does not end");
        }
        d->pid = 0;
        return child_check(status, reterr);
}

/* The parent and the CPU time of a process, from the fields after its name, which may hold anything. */
static int stat_read(pid_t pid, pid_t *ret_parent, uint64_t *ret_ticks) {
        char path[64], text[1024];
        unsigned long user, system;
        const char *rest;
        int parent;

        (void) snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        if (file_read(AT_FDCWD, path, text, sizeof(text)) < 0)
                return -ESRCH;
        rest = strrchr(text, ')');
        if (!rest || sscanf(rest, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &parent, &user,
                                     &system) != 3)
                return -EPROTO;
        *ret_parent = parent;
        *ret_ticks = user + system;
        return 0;
}

/* coved, its child the keeper, and the keeper's child the worker: below that are sandboxes. NULL: not a part. */
static uint64_t *part_of(const ServeDaemon *d, pid_t pid, pid_t parent, ServeTicks *t) {
        char path[64], name[32];
        uint64_t ticks;
        pid_t grandparent;

        if (pid == d->pid)
                return &t->coved;
        (void) snprintf(path, sizeof(path), "/proc/%d/comm", pid);
        if (file_read(AT_FDCWD, path, name, sizeof(name)) <= 0)
                return NULL;
        if (parent == d->pid)
                return strncmp(name, "cove-keeper", 11) == 0 ? &t->spawner : &t->others;
        return strncmp(name, "cove-spawner", 12) == 0 && stat_read(parent, &grandparent, &ticks) >= 0 && grandparent == d->pid
                       ? &t->spawner
                       : NULL;
}

int serve_daemon_ticks(const ServeDaemon *d, ServeTicks *ret) {
        ServeTicks total = {};
        DIR *proc = opendir("/proc");
        struct dirent *entry;

        if (!proc)
                return -errno;
        while ((entry = readdir(proc))) {
                pid_t pid = atoi(entry->d_name), parent;
                uint64_t ticks, *part;

                if (pid <= 0 || stat_read(pid, &parent, &ticks) < 0)
                        continue;
                part = part_of(d, pid, parent, &total);
                if (part)
                        *part += ticks;
        }
        (void) closedir(proc);
        *ret = total;
        return 0;
}

int serve_daemon_memory(const ServeDaemon *d, uint64_t *ret) {
        char path[64], text[4096];
        unsigned long kib;
        const char *line;

        (void) snprintf(path, sizeof(path), "/proc/%d/status", d->pid);
        if (file_read(AT_FDCWD, path, text, sizeof(text)) < 0)
                return -ESRCH;
        line = strstr(text, "VmRSS:");
        if (!line || sscanf(line, "VmRSS: %lu kB", &kib) != 1)
                return -EPROTO;
        *ret = (uint64_t) kib * 1024;
        return 0;
}

/* nftw passes nothing on to its callbacks. */
static struct {
        char prefix[32];
        uint64_t bytes;
        size_t n;
} walk;

static void walk_init(const ServeDaemon *d) {
        walk.bytes = walk.n = 0;
        (void) snprintf(walk.prefix, sizeof(walk.prefix), "cove-%s-", d->instance);
}

static bool is_group(const char *path) {
        return strncmp(strrchr(path, '/') + 1, walk.prefix, strlen(walk.prefix)) == 0;
}

static int group_add(const char *path, const struct stat *st, int type, struct FTW *where) {
        static const char *const files[] = { "memory.current", "memory.usage_in_bytes" };
        char file[PATH_MAX];
        uint64_t bytes;

        if (type != FTW_D || !is_group(path))
                return 0;
        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                (void) snprintf(file, sizeof(file), "%s/%s", path, files[i]);
                if (file_read_uint64(AT_FDCWD, file, &bytes) >= 0) {
                        walk.bytes += bytes;
                        walk.n++;
                        break;
                }
        }
        return 0;
}

int serve_daemon_charged(const ServeDaemon *d, uint64_t *ret) {
        walk_init(d);
        (void) nftw(SERVE_CGROUPS, group_add, SERVE_WALK_FDS, FTW_PHYS);
        if (walk.n == 0)
                return -EOPNOTSUPP;
        *ret = walk.bytes;
        return 0;
}

static int group_remove(const char *path, const struct stat *st, int type, struct FTW *where) {
        if (type == FTW_DP && strstr(path, walk.prefix))
                (void) rmdir(path);
        return 0;
}

void serve_daemon_sweep(const ServeDaemon *d) {
        walk_init(d);
        (void) nftw(SERVE_CGROUPS, group_remove, SERVE_WALK_FDS, FTW_DEPTH | FTW_PHYS);
}
