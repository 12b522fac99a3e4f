#include "daemon/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/dirs.h"
#include "base/fd.h"

#define LOCK_PATIENCE (5 * USEC_PER_SEC)
#define LOCK_POLL     20000
#define DEPTH         3 /* levels below the state directory */

static const char *const directories[] = { "run", "box" };

static int daemon_state_take_lock(DaemonState *s, Error *reterr) {
        usec_t deadline = clock_usec() + LOCK_PATIENCE;
        char holder[32] = "";

        s->lock_fd = openat(s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (s->lock_fd < 0)
                return error_set(reterr, -errno, "cannot open '%s/lock': %m", s->dir);
        while (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
                if (errno != EWOULDBLOCK)
                        return error_set(reterr, -errno, "cannot lock '%s': %m", s->dir);
                if (clock_usec() >= deadline) {
                        ssize_t n = pread(s->lock_fd, holder, sizeof(holder) - 1, 0);

                        holder[MAX_OF(n, (ssize_t) 0)] = '\0';
                        holder[strcspn(holder, "\n")] = '\0';
                        return error_set(reterr, -EBUSY, "'%s' is already being served, by process %s", s->dir, holder);
                }
                (void) usleep(LOCK_POLL);
        }
        if (ftruncate(s->lock_fd, 0) == 0)
                (void) dprintf(s->lock_fd, "%d\n", getpid());
        return 0;
}

static int make_instance(char ret[static STATE_INSTANCE_LENGTH + 1]) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
        unsigned char random[STATE_INSTANCE_LENGTH];

        if (getrandom(random, sizeof(random), 0) != (ssize_t) sizeof(random))
                return -EIO;
        for (size_t i = 0; i < STATE_INSTANCE_LENGTH; i++)
                ret[i] = letters[random[i] % 32];
        ret[STATE_INSTANCE_LENGTH] = '\0';
        return 0;
}

/* The instance is written once, whole or not at all: a daemon with another instance would not find its
 * sandboxes again. */
static int read_instance(DaemonState *s, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        ssize_t n = file_read(s->fd, "instance", s->instance, sizeof(s->instance));
        int r;

        if (n == STATE_INSTANCE_LENGTH && strspn(s->instance, "abcdefghijklmnopqrstuvwxyz234567") == STATE_INSTANCE_LENGTH)
                return 0;
        if (n != -ENOENT)
                return error_set(reterr, -EUCLEAN, "'%s/instance' is damaged: it must have eight characters of a–z and 2–7", s->dir);

        r = make_instance(s->instance);
        if (r >= 0) {
                fd = openat(s->fd, "instance.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
                r = fd < 0 ? -errno : fd_write_all(fd, s->instance, STATE_INSTANCE_LENGTH);
        }
        if (r >= 0 && (fsync(fd) < 0 || renameat(s->fd, "instance.new", s->fd, "instance") < 0))
                r = -errno;
        return r < 0 ? error_set(reterr, r, "cannot write '%s/instance': %m", s->dir) : 0;
}

static int daemon_state_make_directories(DaemonState *s, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                if (mkdirat(s->fd, directories[i], 0700) < 0 && errno != EEXIST)
                        return error_set(reterr, -errno, "cannot make '%s/%s': %m", s->dir, directories[i]);
        return 0;
}

/* These stay root's: the spawner's files (depot/depot.h), and the transactions of root's own `cove run
 * --txn` (txn/txn.h), which accept no directory of another user. */
static bool daemon_state_is_roots(const char *name) {
        return strcmp(name, "depot") == 0 || strcmp(name, "depot.img") == 0 || strcmp(name, "txn") == 0;
}

/* Hands over everything below, two levels at most, after a first start and when the user has changed. Links
 * are not followed. */
static int daemon_state_hand_over(int dirfd, uid_t uid, gid_t gid, unsigned depth) {
        _cleanup_directory_ DIR *directory = directory_open(dirfd, ".");
        const struct dirent *entry;
        int r = 0;

        if (!directory || fchown(dirfd, uid, gid) < 0)
                return -errno;
        while (r >= 0 && (entry = directory_next(directory))) {
                if (depth == DEPTH && daemon_state_is_roots(entry->d_name))
                        continue;
                if (entry->d_type == DT_DIR && depth > 0) {
                        _cleanup_close_ int sub = openat(dirfd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

                        r = sub < 0 ? -errno : daemon_state_hand_over(sub, uid, gid, depth - 1);
                } else if (fchownat(dirfd, entry->d_name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
                        r = -errno;
        }
        return r;
}

static bool belongs_to(int dirfd, uid_t uid) {
        struct stat dir, lock;

        return fstat(dirfd, &dir) == 0 && dir.st_uid == uid && fstatat(dirfd, "instance", &lock, AT_SYMLINK_NOFOLLOW) == 0 &&
               lock.st_uid == uid;
}

int state_open(const char *dir, uid_t uid, gid_t gid, DaemonState *ret, Error *reterr) {
        DaemonState s = STATE_EMPTY;
        int r;

        s.dir = dir;
        r = dir_make_parents(dir, 0755);
        if (r < 0)
                return error_set(reterr, r, "cannot make the directories of '%s': %m", dir);
        if (mkdir(dir, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make the state directory '%s': %m", dir);
        s.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (s.fd < 0)
                return error_set(reterr, -errno, "cannot open the state directory '%s': %m", dir);

        r = daemon_state_take_lock(&s, reterr);
        if (r >= 0)
                r = read_instance(&s, reterr);
        if (r >= 0)
                r = daemon_state_make_directories(&s, reterr);
        if (r >= 0 && geteuid() == 0 && !belongs_to(s.fd, uid)) {
                r = daemon_state_hand_over(s.fd, uid, gid, DEPTH);
                if (r < 0)
                        (void) error_set(reterr, r, "cannot hand '%s' to user %u: %m", dir, uid);
        }
        if (r < 0) {
                state_close(&s);
                return r;
        }
        *ret = s;
        return 0;
}

void state_close(DaemonState *s) {
        s->lock_fd = fd_close(s->lock_fd);
        s->fd = fd_close(s->fd);
}
