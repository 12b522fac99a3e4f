#include "txn/txn.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/fd.h"
#include "txn/record.h"

#define ID_PREFIX   "txn-"
#define ID_LETTERS  "abcdefghijklmnopqrstuvwxyz0123456789"
#define CREATE_TRIES 16
#define LIST_MAX    65536
#define NSEC_PER_SEC UINT64_C(1000000000)

void txn_done(Txn *t) {
        t->fd = fd_close(t->fd);
        t->lock_fd = fd_close(t->lock_fd);
        free(TAKE_PTR(t->path));
        free(TAKE_PTR(t->dir));
        free(TAKE_PTR(t->target));
        strv_done(&t->command);
}

bool txn_id_is_valid(const char *id) {
        return strlen(id) == TXN_ID_LENGTH && strncmp(id, ID_PREFIX, strlen(ID_PREFIX)) == 0 &&
               strspn(id + strlen(ID_PREFIX), ID_LETTERS) == TXN_ID_LENGTH - strlen(ID_PREFIX);
}

int txn_home(char **ret, Error *reterr) {
        const char *own = getenv("COVE_TXN_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
        int n;

        if (own && own[0] == '/')
                n = asprintf(ret, "%s", own);
        else if (own && own[0])
                return error_set(reterr, -EINVAL, "COVE_TXN_DIR is '%s', which is no absolute path", own);
        else if (geteuid() == 0)
                n = asprintf(ret, "/var/lib/cove/txn");
        else if (state && state[0] == '/')
                n = asprintf(ret, "%s/cove/txn", state);
        else if (home && home[0] == '/')
                n = asprintf(ret, "%s/.local/state/cove/txn", home);
        else
                return error_set(reterr, -ENOENT, "there is no place for transactions: set HOME, XDG_STATE_HOME or COVE_TXN_DIR");
        if (n < 0) {
                *ret = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        return 0;
}

/* The directory must be ours, and no other user may write there: otherwise others could plant transactions. */
static int open_home(bool make, char **ret_path, Error *reterr) {
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r = txn_home(&path, reterr);

        if (r < 0)
                return r;
        if (make) {
                r = dir_make_parents(path, 0755);
                if (r < 0 || (mkdir(path, 0700) < 0 && errno != EEXIST))
                        return error_set(reterr, r < 0 ? r : -errno, "cannot make '%s' for transactions: %m", path);
        }
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "'%s': %m", path);
        if (st.st_uid != geteuid() || (st.st_mode & 022))
                return error_set(reterr, -EPERM, "'%s' belongs to another user, or others may write there: transactions need a directory of your own "
                                                 "(COVE_TXN_DIR)",
                                path);
        *ret_path = TAKE_PTR(path);
        return TAKE_FD(fd);
}

static int txn_take_lock(Txn *t, Error *reterr) {
        t->lock_fd = openat(t->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (t->lock_fd < 0)
                return error_set(reterr, -errno, "'%s/lock': %m", t->path);
        if (flock(t->lock_fd, LOCK_EX | LOCK_NB) == 0)
                return 0;
        if (errno == EWOULDBLOCK)
                return error_set(reterr, -EBUSY, "transaction %s is in use: a run or a commit is at it", t->id);
        return error_set(reterr, -errno, "'%s/lock': %m", t->path);
}

static int make_own_directory(Txn *t, Error *reterr) {
        _cleanup_free_ char *home = NULL;
        _cleanup_close_ int home_fd = open_home(/* make= */ true, &home, reterr);

        if (home_fd < 0)
                return home_fd;
        for (int i = 0; i < CREATE_TRIES; i++) {
                uint8_t random[TXN_ID_LENGTH];
                size_t n = strlen(ID_PREFIX);

                if (getrandom(random, sizeof(random), 0) != (ssize_t) sizeof(random))
                        return error_set(reterr, -EIO, "cannot get random bytes");
                (void) snprintf(t->id, sizeof(t->id), "%s", ID_PREFIX);
                for (; n < TXN_ID_LENGTH; n++)
                        t->id[n] = ID_LETTERS[random[n] % strlen(ID_LETTERS)];
                t->id[n] = '\0';
                if (mkdirat(home_fd, t->id, 0700) == 0) {
                        if (asprintf(&t->path, "%s/%s", home, t->id) < 0) {
                                t->path = NULL;
                                return error_set(reterr, -ENOMEM, "out of memory");
                        }
                        t->fd = openat(home_fd, t->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                        return t->fd < 0 ? error_set(reterr, -errno, "'%s': %m", t->path) : 0;
                }
                if (errno != EEXIST)
                        break;
        }
        return error_set(reterr, -errno, "cannot make a transaction in '%s': %m", home);
}

/* An overlay stores its own data in attributes of its upper. */
static int check_attributes(const Txn *t, int upper, Error *reterr) {
        if (fsetxattr(upper, "user.cove.check", "y", 1, 0) < 0)
                return error_set(reterr, -EOPNOTSUPP, "the file system of '%s' cannot hold a transaction: it takes no user attributes (%s); set "
                                                      "COVE_TXN_DIR to a directory on ext4, xfs, btrfs or a tmpfs of Linux 6.6",
                                t->path, strerror(errno));
        (void) fremovexattr(upper, "user.cove.check");
        return 0;
}

/* The guest sees the upper's own directory as the top. */
static int txn_make_layer(const Txn *t, const struct stat *dir, Error *reterr) {
        _cleanup_close_ int layer = -EBADF, upper = -EBADF;

        if (mkdirat(t->fd, "layer", 0700) == 0)
                layer = openat(t->fd, "layer", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (layer >= 0 && mkdirat(layer, "work", 0700) == 0 && mkdirat(layer, "upper", 0700) == 0)
                upper = openat(layer, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (upper < 0 || (geteuid() == 0 && fchown(upper, t->uid, t->gid) < 0) || fchmod(upper, dir->st_mode & 0777) < 0)
                return error_set(reterr, -errno, "'%s/layer': %m", t->path);
        return check_attributes(t, upper, reterr);
}

static bool txn_is_same(const struct stat *a, const struct stat *b) {
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether `above` is the directory of that path, or one above it. */
static int lies_below(const char *path, const struct stat *above) {
        _cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct stat here, parent;

        if (fd < 0 || fstat(fd, &here) < 0)
                return -errno;
        for (;;) {
                int up;

                if (txn_is_same(&here, above))
                        return 1;
                up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (up < 0)
                        return -errno;
                (void) fd_close(fd);
                fd = up;
                if (fstat(fd, &parent) < 0)
                        return -errno;
                if (txn_is_same(&here, &parent))
                        return 0;
                here = parent;
        }
}

static int check_apart(const Txn *t, const struct stat *dir, Error *reterr) {
        struct stat own;
        int r;

        if (fstat(t->fd, &own) < 0)
                return error_set(reterr, -errno, "'%s': %m", t->path);
        r = lies_below(t->path, dir);
        if (r == 0)
                r = lies_below(t->dir, &own);
        if (r < 0)
                return error_set(reterr, r, "'%s': %m", t->dir);
        if (r > 0)
                return error_set(reterr, -ELOOP, "'%s' contains the place where transactions are kept ('%s'): choose a directory further down, or "
                                                 "set COVE_TXN_DIR",
                                t->dir, t->path);
        return 0;
}

static uint64_t clock_nsec(clockid_t clock) {
        struct timespec now;

        (void) clock_gettime(clock, &now);
        return (uint64_t) now.tv_sec * NSEC_PER_SEC + (uint64_t) now.tv_nsec;
}

/* The kernel sets file times to the last tick: a change right after this would otherwise carry a time from
 * right before. */
static uint64_t begin_time(void) {
        uint64_t now = clock_nsec(CLOCK_REALTIME);

        for (int i = 0; i < 200 && clock_nsec(CLOCK_REALTIME_COARSE) <= now; i++)
                (void) usleep(500);
        return now;
}

static int fill_new(Txn *t, const char *dir, uid_t uid, gid_t gid, Error *reterr) {
        struct stat st;
        int r;

        t->dir = realpath(dir, NULL);
        if (!t->dir || stat(t->dir, &st) < 0)
                return error_set(reterr, -errno, "'%s': %m", dir);
        if (!S_ISDIR(st.st_mode))
                return error_set(reterr, -ENOTDIR, "'%s' is no directory", dir);
        t->dev = (uint64_t) st.st_dev;
        t->ino = (uint64_t) st.st_ino;
        t->uid = uid;
        t->gid = gid;
        r = make_own_directory(t, reterr);
        if (r >= 0)
                r = txn_take_lock(t, reterr);
        if (r >= 0)
                r = check_apart(t, &st, reterr);
        if (r >= 0)
                r = txn_make_layer(t, &st, reterr);
        if (r < 0)
                return r;
        t->since_nsec = begin_time();
        return txn_save(t, reterr);
}

int txn_create(const char *dir, uid_t uid, gid_t gid, Txn *ret, Error *reterr) {
        _cleanup_txn_ Txn t = TXN_EMPTY;
        int r = fill_new(&t, dir, uid, gid, reterr);

        if (r < 0) {
                if (t.fd >= 0)
                        (void) txn_remove(&t, /* reterr= */ NULL);
                return r;
        }
        *ret = t;
        t = (Txn) TXN_EMPTY;
        return 0;
}

int txn_open(const char *id, bool lock, Txn *ret, Error *reterr) {
        _cleanup_txn_ Txn t = TXN_EMPTY;
        _cleanup_free_ char *home = NULL;
        _cleanup_close_ int home_fd = -EBADF;
        int r;

        if (!txn_id_is_valid(id))
                return error_set(reterr, -ENOENT, "'%s' is no transaction's id", id);
        home_fd = open_home(/* make= */ false, &home, reterr);
        if (home_fd == -ENOENT)
                return error_set(reterr, -ENOENT, "there is no transaction '%s': `cove txn ls` lists them", id);
        if (home_fd < 0)
                return home_fd;
        (void) snprintf(t.id, sizeof(t.id), "%s", id);
        t.fd = openat(home_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (t.fd < 0 && errno == ENOENT)
                return error_set(reterr, -ENOENT, "there is no transaction '%s' in '%s': `cove txn ls` lists them", id, home);
        if (t.fd < 0)
                return error_set(reterr, -errno, "'%s/%s': %m", home, id);
        if (asprintf(&t.path, "%s/%s", home, id) < 0) {
                t.path = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        r = lock ? txn_take_lock(&t, reterr) : 0;
        if (r >= 0)
                r = record_load(&t, reterr);
        if (r < 0 && r != -EBADMSG)
                return r;
        *ret = t; /* one whose record is broken can still be dropped */
        t = (Txn) TXN_EMPTY;
        return r;
}

int txn_remove(Txn *t, Error *reterr) {
        _cleanup_close_ int home = openat(t->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (home < 0)
                return error_set(reterr, -errno, "'%s': %m", t->path);
        r = txn_remove_tree(home, t->id);
        return r < 0 ? error_set(reterr, r, "cannot remove all of '%s': %m", t->path) : 0;
}

int txn_list(Strv *ret, Error *reterr) {
        _cleanup_free_ char *home = NULL;
        struct dirent **entries = NULL;
        int n, r = open_home(/* make= */ false, &home, reterr);

        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        (void) fd_close(r);
        n = scandir(home, &entries, NULL, alphasort);
        if (n < 0)
                return error_set(reterr, -errno, "'%s': %m", home);
        r = 0;
        for (int i = 0; i < n; i++) {
                if (r >= 0 && txn_id_is_valid(entries[i]->d_name))
                        r = strv_push(ret, entries[i]->d_name);
                free(entries[i]);
        }
        free(entries);
        return r < 0 ? error_set(reterr, r, "out of memory") : 0;
}

int txn_open_dir(const Txn *t, Error *reterr) {
        _cleanup_close_ int fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "the directory of transaction %s, '%s': %m", t->id, t->dir);
        if ((uint64_t) st.st_dev != t->dev || (uint64_t) st.st_ino != t->ino)
                return error_set(reterr, -ESTALE, "'%s' is another directory than the one that transaction %s began on", t->dir, t->id);
        return TAKE_FD(fd);
}

int txn_open_upper(const Txn *t, Error *reterr) {
        int fd = openat(t->fd, "layer/upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? error_set(reterr, -errno, "'%s/layer/upper': %m", t->path) : fd;
}

int txn_open_layer(const Txn *t, char **ret_path, Error *reterr) {
        _cleanup_free_ char *path = NULL;
        int fd;

        if (asprintf(&path, "%s/layer", t->path) < 0) {
                path = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        fd = openat(t->fd, "layer", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return error_set(reterr, -errno, "'%s': %m", path);
        *ret_path = TAKE_PTR(path);
        return fd;
}
