#include "txn/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/strv.h"
#include "txn/plan.h"

#define NAMES_MAX     (16u << 20) /* in one directory */
#define COMPARE_BYTES 65536
#define PERMISSIONS   07777

typedef struct TxnChangesWalk {
        ChangeFunction function;
        void *userdata;
        Error *reterr;
        char path[PATH_MAX];
        size_t length;
        unsigned depth;
} TxnChangesWalk;

/* A pair of directories. */
typedef struct TxnChangesPair {
        int upper;   /* -EBADF: not in the upper */
        int dir;     /* -EBADF: not on the host */
        bool opaque; /* entries that the upper lacks are gone */
        bool implied;
} TxnChangesPair;

char change_letter(ChangeKind k) {
        return "AMD"[k];
}

const char *change_name(ChangeKind k) {
        static const char *const names[_CHANGE_KIND_MAX] = { "added", "modified", "deleted" };
        return names[k];
}

const char *change_type_name(mode_t mode) {
        return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : "other";
}

bool change_is_wanted(const char *path, const char *const *paths, size_t n_paths) {
        for (size_t i = 0; i < n_paths; i++) {
                size_t n = strlen(paths[i]);

                if (n == 0 || (strncmp(path, paths[i], n) == 0 && (path[n] == '\0' || path[n] == '/')))
                        return true;
        }
        return n_paths == 0;
}

static bool txn_changes_is_whiteout(const struct stat *st) {
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

static int txn_changes_fail(TxnChangesWalk *w, int error) {
        return error_set(w->reterr, error, "'%s': %m", w->path);
}

/* A missing descriptor has no names. */
static int txn_changes_read_names(int fd, Strv *ret) {
        return fd < 0 ? 0 : directory_names(fd, ret);
}

static int txn_changes_compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The names of both directories, each once. */
static int merge_names(const TxnChangesPair *p, Strv *ret) {
        size_t n = 0;
        int r = txn_changes_read_names(p->upper, ret);

        if (r >= 0 && (p->upper < 0 || p->opaque))
                r = txn_changes_read_names(p->dir, ret);
        if (r < 0 || ret->n == 0)
                return r;
        qsort(ret->items, ret->n, sizeof(char *), txn_changes_compare_names);
        for (size_t i = 0; i < ret->n; i++)
                if (n > 0 && strcmp(ret->items[n - 1], ret->items[i]) == 0)
                        free(ret->items[i]);
                else
                        ret->items[n++] = ret->items[i];
        ret->n = n;
        ret->items[n] = NULL;
        return 0;
}

static int open_below(int dirfd, const char *name) {
        int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static bool txn_changes_same_bytes(int a, int b) {
        static char left[COMPARE_BYTES], right[COMPARE_BYTES];

        for (;;) {
                ssize_t n = fd_read_full(a, left, sizeof(left)), m = fd_read_full(b, right, sizeof(right));

                if (n < 0 || n != m || memcmp(left, right, (size_t) n) != 0)
                        return false;
                if (n == 0)
                        return true;
        }
}

/* A file that cannot be read counts as different. */
static bool same_file(const TxnChangesPair *p, const char *name) {
        _cleanup_close_ int ours = beneath_read(p->upper, name);
        _cleanup_close_ int theirs = openat(p->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        return ours >= 0 && theirs >= 0 && txn_changes_same_bytes(ours, theirs);
}

static bool same_link(const TxnChangesPair *p, const char *name) {
        char ours[PATH_MAX], theirs[PATH_MAX];
        ssize_t n = readlinkat(p->upper, name, ours, sizeof(ours)), m = readlinkat(p->dir, name, theirs, sizeof(theirs));

        return n >= 0 && n == m && memcmp(ours, theirs, (size_t) n) == 0;
}

static bool txn_changes_is_same(const TxnChangesPair *p, const char *name, const Change *c) {
        if ((c->before.st_mode & S_IFMT) != (c->after.st_mode & S_IFMT))
                return false;
        if (S_ISLNK(c->after.st_mode))
                return same_link(p, name);
        if ((c->before.st_mode & PERMISSIONS) != (c->after.st_mode & PERMISSIONS))
                return false;
        if (S_ISREG(c->after.st_mode))
                return c->before.st_size == c->after.st_size && same_file(p, name);
        return true;
}

static bool has_mark(const TxnChangesPair *p, const char *name, const char *mark) {
        char path[64 + NAME_MAX];

        if (p->upper < 0)
                return false;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", p->upper, name);
        return lgetxattr(path, mark, NULL, 0) >= 0;
}

static int txn_changes_tell(TxnChangesWalk *w, const Change *c) {
        int r = w->function(c, w->userdata);

        return r < 0 && w->reterr && !w->reterr->text[0] ? txn_changes_fail(w, r) : r;
}

static int walk_pair(TxnChangesWalk *w, const TxnChangesPair *p);

/* Enters a directory that exists on either side. */
static int go_down(TxnChangesWalk *w, const TxnChangesPair *p, const char *name, const Change *c, bool opaque, bool implied) {
        bool ours = p->upper >= 0 && S_ISDIR(c->after.st_mode), theirs = p->dir >= 0 && S_ISDIR(c->before.st_mode);
        mode_t mode = BENEATH_OPEN;
        _cleanup_close_ int upper = ours ? beneath_enter(p->upper, name, &mode) : -EBADF;
        _cleanup_close_ int dir = theirs ? open_below(p->dir, name) : -EBADF;
        int r;

        if (!ours && !theirs)
                return 0;
        if (ours && upper < 0)
                return txn_changes_fail(w, upper);
        r = theirs && dir < 0 ? txn_changes_fail(w, dir) : walk_pair(w, &(TxnChangesPair) { .upper = upper, .dir = dir, .opaque = opaque, .implied = implied });
        beneath_leave(upper, mode);
        return r;
}

static int walk_name(TxnChangesWalk *w, const TxnChangesPair *p, const char *name) {
        Change c = { .path = w->path, .implied = p->implied };
        bool there, replaced;
        int r = 0;

        if (p->upper >= 0 && fstatat(p->upper, name, &c.after, AT_SYMLINK_NOFOLLOW) < 0 && errno != ENOENT)
                return txn_changes_fail(w, -errno);
        if (p->dir >= 0 && fstatat(p->dir, name, &c.before, AT_SYMLINK_NOFOLLOW) < 0) {
                if (errno != ENOENT)
                        return txn_changes_fail(w, -errno);
                c.before = (struct stat) { 0 };
        }
        if (txn_changes_is_whiteout(&c.after))
                c.after = (struct stat) { 0 };
        there = c.before.st_mode != 0;
        if (!there && c.after.st_mode == 0)
                return 0;

        c.kind = c.after.st_mode == 0 ? CHANGE_DELETED : there ? CHANGE_MODIFIED : CHANGE_ADDED;
        c.copied = c.after.st_mode != 0 && has_mark(p, name, "user.overlay.origin");
        replaced = c.kind != CHANGE_MODIFIED || (c.before.st_mode & S_IFMT) != (c.after.st_mode & S_IFMT);
        if (replaced || !txn_changes_is_same(p, name, &c))
                r = txn_changes_tell(w, &c);
        if (r < 0)
                return r;
        return go_down(w, p, name, &c, replaced || has_mark(p, name, "user.overlay.opaque"), p->implied || replaced);
}

static int walk_pair(TxnChangesWalk *w, const TxnChangesPair *p) {
        Strv names = STRV_INIT(NAMES_MAX);
        size_t length = w->length;
        int r;

        if (++w->depth > CHANGES_DEPTH_MAX)
                return error_set(w->reterr, -ELOOP, "'%.100s…' is deeper than %d directories", w->path, CHANGES_DEPTH_MAX);
        r = merge_names(p, &names);
        if (r < 0)
                r = txn_changes_fail(w, r);
        for (size_t i = 0; i < names.n && r >= 0; i++) {
                int n = snprintf(w->path + length, sizeof(w->path) - length, "%s%s", length ? "/" : "", names.items[i]);

                w->length = length + (size_t) n;
                r = w->length >= sizeof(w->path) ? error_set(w->reterr, -ENAMETOOLONG, "a path is longer than %zu bytes", sizeof(w->path)) :
                                                   walk_name(w, p, names.items[i]);
                w->path[length] = '\0';
                w->length = length;
        }
        strv_done(&names);
        w->depth--;
        return r;
}

int changes_walk(int dir_fd, int upper_fd, ChangeFunction function, void *userdata, Error *reterr) {
        TxnChangesWalk w = { .function = function, .userdata = userdata, .reterr = reterr };
        int r;

        if (reterr)
                reterr->text[0] = '\0';
        r = walk_pair(&w, &(TxnChangesPair) { .upper = upper_fd, .dir = dir_fd });
        return r < 0 ? r : 0;
}

static int txn_changes_count_one(const Change *c, void *userdata) {
        ChangeCount *count = userdata;

        count->kinds[c->kind]++;
        count->total++;
        return 0;
}

int changes_count(int dir_fd, int upper_fd, ChangeCount *ret, Error *reterr) {
        *ret = (ChangeCount) { 0 };
        return changes_walk(dir_fd, upper_fd, txn_changes_count_one, ret, reterr);
}
