#include "txn/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "txn/plan.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#define RENAME_EXCHANGE  2u
#endif
#define STAGING_PREFIX ".cove-"

typedef struct TxnCommit {
        const Txn *t;
        int dir_fd, upper_fd;
        int staging_fd;
        char staging[32];
        bool stuck; /* the staging directory has files that must not be lost */
        const CommitOptions *o;
        TxnPlan plan;
        Error *reterr;
} TxnCommit;

static int rename_flags(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
        return syscall(SYS_renameat2, from_dir, from, to_dir, to, flags) < 0 ? -errno : 0;
}

static void step_name(size_t i, const char *what, char ret[static 32]) {
        (void) snprintf(ret, 32, "%s%zu", what, i);
}

static bool is_as_found(const struct stat *now, const struct stat *found) {
        return now->st_ino == found->st_ino && (now->st_mode & S_IFMT) == (found->st_mode & S_IFMT) && now->st_mtim.tv_sec == found->st_mtim.tv_sec &&
               now->st_mtim.tv_nsec == found->st_mtim.tv_nsec && now->st_size == found->st_size;
}

/* Checks that the place has not changed since the plan. */
static int txn_commit_check_place(int parent, const char *name, const Step *s) {
        struct stat now;

        if (fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? (s->kind == CHANGE_ADDED ? 0 : -ESTALE) : -errno;
        return s->kind != CHANGE_ADDED && is_as_found(&now, &s->before) ? 0 : -ESTALE;
}

/* Old and new are exchanged in one step, or in two if the file system cannot exchange. */
static int move_in(TxnCommit *c, size_t i, int parent, const char *name) {
        const Step *s = c->plan.steps + i;
        char new[32], old[32];
        int r;

        step_name(i, "new-", new);
        step_name(i, "old-", old);
        r = rename_flags(c->staging_fd, new, parent, name, s->kind == CHANGE_ADDED ? RENAME_NOREPLACE : RENAME_EXCHANGE);
        if (r != -EINVAL && r != -ENOSYS)
                return r;
        if (s->kind != CHANGE_ADDED && renameat(parent, name, c->staging_fd, old) < 0)
                return -errno;
        if (renameat(c->staging_fd, new, parent, name) < 0) {
                r = -errno;
                if (s->kind != CHANGE_ADDED)
                        (void) renameat(c->staging_fd, old, parent, name);
                return r;
        }
        /* To the place where an exchange would have left it. */
        return s->kind != CHANGE_ADDED && renameat(c->staging_fd, old, c->staging_fd, new) < 0 ? -errno : 0;
}

/* The directory may belong to another user, who could have put another one in its place. */
static int set_mode(const TxnCommit *c, const Step *s, int parent, const char *name, mode_t mode) {
        _cleanup_close_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat now, dir;

        if (fd < 0 || fstat(fd, &now) < 0 || fstat(c->dir_fd, &dir) < 0)
                return -errno;
        if (s->directory_mode ? now.st_ino != s->before.st_ino : now.st_uid != geteuid() && now.st_uid != dir.st_uid)
                return -ESTALE;
        return fchmod(fd, mode) < 0 ? -errno : 0;
}

/* Made where no other user can reach it before it has its owner. */
static int make_parent(TxnCommit *c, int parent, const char *name) {
        _cleanup_close_ int fd = -EBADF;
        struct stat dir;
        int r;

        if (mkdirat(c->staging_fd, "parent", 0755) < 0)
                return -errno;
        fd = openat(c->staging_fd, "parent", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(c->dir_fd, &dir) < 0 || (geteuid() == 0 && fchown(fd, dir.st_uid, dir.st_gid) < 0))
                return -errno;
        r = rename_flags(c->staging_fd, "parent", parent, name, RENAME_NOREPLACE);
        if (r == -EINVAL || r == -ENOSYS)
                r = rename_flags(c->staging_fd, "parent", parent, name, 0);
        return r;
}

/* If only some paths are wanted, the directories above them may be new too. */
static int txn_commit_make_parents(TxnCommit *c, const Step *s) {
        for (const char *slash = strchr(s->path, '/'); slash; slash = strchr(slash + 1, '/')) {
                _cleanup_free_ char *path = strndup(s->path, (size_t) (slash - s->path));
                _cleanup_close_ int there = path ? beneath_open(c->dir_fd, path, O_PATH | O_DIRECTORY) : -ENOMEM, parent = -EBADF;
                const char *name;
                int r;

                if (there >= 0)
                        continue;
                if (there != -ENOENT)
                        return there;
                parent = beneath_open_parent(c->dir_fd, path, &name);
                r = parent < 0 ? parent : make_parent(c, parent, name);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int do_step(TxnCommit *c, size_t i) {
        Step *s = c->plan.steps + i;
        _cleanup_close_ int parent = -EBADF;
        const char *name;
        char old[32];
        int r;

        r = s->kind == CHANGE_ADDED && c->o->n_paths > 0 ? txn_commit_make_parents(c, s) : 0;
        if (r >= 0)
                r = parent = beneath_open_parent(c->dir_fd, s->path, &name);
        if (r >= 0)
                r = txn_commit_check_place(parent, name, s);
        if (r < 0)
                return r;
        if (s->kind != CHANGE_DELETED)
                return move_in(c, i, parent, name);
        step_name(i, "old-", old);
        return rename_flags(parent, name, c->staging_fd, old, 0);
}

static int undo_step(TxnCommit *c, size_t i) {
        const Step *s = c->plan.steps + i;
        const char *name;
        _cleanup_close_ int parent = beneath_open_parent(c->dir_fd, s->path, &name);
        char new[32], old[32];
        int r;

        if (parent < 0)
                return parent;
        step_name(i, "new-", new);
        step_name(i, "old-", old);
        if (s->directory_mode)
                return set_mode(c, s, parent, name, s->before.st_mode & 07777);
        if (s->kind == CHANGE_DELETED)
                return rename_flags(c->staging_fd, old, parent, name, 0);
        if (s->kind == CHANGE_ADDED)
                return rename_flags(parent, name, c->staging_fd, new, 0);
        r = rename_flags(c->staging_fd, new, parent, name, RENAME_EXCHANGE);
        if (r != -EINVAL && r != -ENOSYS)
                return r;
        r = rename_flags(parent, name, c->staging_fd, old, 0);
        return r < 0 ? r : rename_flags(c->staging_fd, new, parent, name, 0);
}

/* No file that was there before may be lost with the staging directory. */
static void undo_all(TxnCommit *c) {
        for (size_t i = c->plan.n; i > 0; i--)
                if (c->plan.steps[i - 1].done && undo_step(c, i - 1) < 0)
                        c->stuck = true;
        if (c->stuck)
                (void) error_prefix(c->reterr, -EIO, "not all could be turned back, what was there before is in '%s/%s'", c->t->dir, c->staging);
}

static int txn_commit_fail_step(TxnCommit *c, const Step *s, int error) {
        if (error == -ESTALE)
                return error_set(c->reterr, -EEXIST, "'%s' was changed on the host at this moment: nothing was applied", s->path);
        if (error == -ELOOP || error == -EXDEV || error == -ENOTDIR)
                return error_set(c->reterr, error, "'%s': a link or another file system is on the way to it: nothing was applied", s->path);
        return error_set(c->reterr, error, "cannot apply '%s': %m; nothing was applied", s->path);
}

/* Permissions of directories come last and from the inside out: they may deny us access. */
static int set_modes(TxnCommit *c) {
        for (size_t i = c->plan.n; i > 0; i--) {
                Step *s = c->plan.steps + i - 1;
                mode_t mode = s->late_mode ? s->mode : s->after.st_mode & (c->o->allow_setuid ? 07777u : 01777u);
                _cleanup_close_ int parent = -EBADF;
                const char *name;
                int r;

                if (!s->directory_mode && !s->late_mode)
                        continue;
                parent = beneath_open_parent(c->dir_fd, s->path, &name);
                r = parent < 0 ? parent : set_mode(c, s, parent, name, mode);
                if (r < 0)
                        return txn_commit_fail_step(c, s, r);
                s->done = true;
        }
        return 0;
}

static int txn_commit_move_all(TxnCommit *c) {
        int r = 0;

        for (size_t i = 0; i < c->plan.n && r >= 0; i++) {
                Step *s = c->plan.steps + i;

                if (s->directory_mode)
                        continue;
                r = do_step(c, i);
                if (r < 0)
                        r = txn_commit_fail_step(c, s, r);
                else
                        s->done = true;
        }
        if (r >= 0)
                r = set_modes(c);
        if (r < 0)
                undo_all(c);
        return r;
}

static int name_staging(TxnCommit *c) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
        uint8_t random[8];
        size_t n = strlen(STAGING_PREFIX);

        if (getrandom(random, sizeof(random), 0) != (ssize_t) sizeof(random))
                return error_set(c->reterr, -EIO, "cannot get random bytes");
        (void) snprintf(c->staging, sizeof(c->staging), STAGING_PREFIX);
        for (size_t i = 0; i < sizeof(random); i++)
                c->staging[n++] = letters[random[i] % strlen(letters)];
        c->staging[n] = '\0';
        return 0;
}

/* The owner of the directory can put another one in the place of the staging directory, but not one of ours. */
static int open_staging(int dir_fd, const char *name) {
        _cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        return st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? TAKE_FD(fd) : -ESTALE;
}

static int make_staging(TxnCommit *c) {
        int r = mkdirat(c->dir_fd, c->staging, 0700) < 0 ? -errno : open_staging(c->dir_fd, c->staging);

        if (r < 0)
                return error_set(c->reterr, r, "cannot write to '%s': %m", c->t->dir);
        c->staging_fd = r;
        return 0;
}

/* Contents are removed by the descriptor; only an empty directory is removed by its name. */
static int remove_staging(int dir_fd, int staging_fd, const char *name) {
        _cleanup_directory_ DIR *directory = directory_open(staging_fd, ".");
        const struct dirent *entry;
        int r = directory ? 0 : -errno;

        while (r >= 0 && (entry = directory_next(directory)))
                r = txn_remove_tree(staging_fd, entry->d_name);
        return r < 0 ? r : unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

static int txn_commit_check_space(TxnCommit *c) {
        struct statvfs fs;

        if (fstatvfs(c->dir_fd, &fs) < 0 || (uint64_t) fs.f_bavail * fs.f_frsize > c->plan.bytes)
                return 0;
        return error_set(c->reterr, -ENOSPC, "the changes take %llu bytes, and only %llu are free where '%s' is: nothing was applied",
                        (unsigned long long) c->plan.bytes, (unsigned long long) fs.f_bavail * fs.f_frsize, c->t->dir);
}

/* What is there already keeps its owner. */
static int stage_all(TxnCommit *c) {
        struct stat dir;
        Stage s = { .o = c->o, .chown = geteuid() == 0, .reterr = c->reterr };
        int r = fstat(c->dir_fd, &dir) < 0 ? -errno : 0;

        for (size_t i = 0; i < c->plan.n && r >= 0; i++) {
                Step *step = c->plan.steps + i;
                bool same_type = (step->before.st_mode & S_IFMT) == (step->after.st_mode & S_IFMT);
                char name[32];

                if (step->kind == CHANGE_DELETED || step->directory_mode)
                        continue;
                s.uid = step->kind == CHANGE_MODIFIED && same_type ? step->before.st_uid : dir.st_uid;
                s.gid = step->kind == CHANGE_MODIFIED && same_type ? step->before.st_gid : dir.st_gid;
                step_name(i, "new-", name);
                r = stage_copy(&s, c->upper_fd, step, c->staging_fd, name);
        }
        c->plan.left_out += s.left_out;
        return r;
}

bool commit_is_interrupted(const Txn *t) {
        return faccessat(t->fd, "journal", F_OK, 0) == 0;
}

int commit_clear(const Txn *t, int dir_fd, Error *reterr) {
        _cleanup_journal_ Journal j = { 0 };
        _cleanup_close_ int staging = -EBADF;
        int r = journal_load(t, &j, reterr);

        if (r < 0 || !j.staging)
                return r;
        staging = open_staging(dir_fd, j.staging);
        r = staging == -ENOENT ? 0 : staging < 0 ? staging : remove_staging(dir_fd, staging, j.staging);
        if (r < 0)
                return error_set(reterr, r, "cannot remove '%s/%s', which an interrupted commit has left: %m", t->dir, j.staging);
        if (unlinkat(t->fd, "journal", 0) < 0)
                return error_set(reterr, -errno, "'%s/journal': %m", t->path);
        return 0;
}

static int txn_commit_carry_out(TxnCommit *c) {
        int r = txn_commit_check_space(c);

        if (r >= 0)
                r = name_staging(c);
        if (r >= 0)
                r = journal_save(c->t, c->staging, &c->plan, c->reterr);
        if (r >= 0)
                r = make_staging(c);
        if (r >= 0)
                r = stage_all(c);
        if (r >= 0)
                r = txn_commit_move_all(c);
        if (r >= 0 && syncfs(c->dir_fd) < 0)
                r = error_set(c->reterr, -errno, "'%s' cannot be synced: %m", c->t->dir);
        if (c->staging_fd >= 0 && !c->stuck)
                (void) remove_staging(c->dir_fd, c->staging_fd, c->staging);
        journal_end(c->t, /* done= */ r >= 0);
        return r;
}

int commit_run(const Txn *t, int dir_fd, int upper_fd, const CommitOptions *o, CommitResult *ret, Error *reterr) {
        TxnCommit c = { .t = t, .dir_fd = dir_fd, .upper_fd = upper_fd, .staging_fd = -EBADF, .o = o, .reterr = reterr };
        _cleanup_journal_ Journal journal = { 0 };
        int r = journal_load(t, &journal, reterr);

        if (r >= 0)
                r = plan_make(t, dir_fd, upper_fd, o, &journal, &c.plan, reterr);
        if (r >= 0 && c.plan.conflicts > 0)
                r = error_set(reterr, -EEXIST, "%llu change%s clash%s with what was done to '%s' meanwhile: nothing was applied; --force overwrites, PATH… "
                                               "takes the others",
                                (unsigned long long) c.plan.conflicts, c.plan.conflicts == 1 ? "" : "s", c.plan.conflicts == 1 ? "es" : "", t->dir);
        if (r >= 0 && !o->dry) {
                r = commit_clear(t, dir_fd, reterr);
                if (r >= 0 && c.plan.n > 0)
                        r = txn_commit_carry_out(&c);
        }
        *ret = (CommitResult) { .conflicts = c.plan.conflicts, .left_out = c.plan.left_out };
        if (r >= 0)
                ret->applied = c.plan.count;
        (void) fd_close(c.staging_fd);
        plan_done(&c.plan);
        return r;
}
