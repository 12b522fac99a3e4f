/* The operations copy and move; a move across file systems copies and removes. */
#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "init/file-copy.h"
#include "init/file-place.h"

static int file_move_answer(FileJob *job, const FilePlace *to) {
        const char *path = job->request->target;
        char target[FILE_PATH_BYTES] = "";
        struct stat st;

        if (fstatat(to->dirfd, to->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return job_fail(job, -errno, path);
        if (S_ISLNK(st.st_mode))
                (void) link_read(to->dirfd, to->name, target, sizeof(target));
        return job_send_entry(job, path, target, &st, -EBADF);
}

static int find_target(FileJob *job, bool follow, FilePlace *ret, MadeDirectories *made) {
        const FileRequest *q = job->request;
        int r = follow ? place_find_file(q->target, true, ret) : file_place_find(q->target, ret);

        if (r == -ENOENT && (q->flags & FILE_PARENTS)) {
                r = directories_make(q->target, /* parents_only= */ true, made);
                if (r >= 0)
                        r = file_place_find(q->target, ret);
        }
        return r < 0 ? job_fail(job, r, q->target) : 0;
}

/* Whether the path from this directory up to the root passes through that one. */
static int is_within(int dirfd, const struct stat *st) {
        _cleanup_close_ int at = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct stat here, above;

        if (at < 0 || fstat(at, &here) < 0)
                return -errno;
        for (;;) {
                int up;

                if (here.st_dev == st->st_dev && here.st_ino == st->st_ino)
                        return 1;
                up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (up < 0)
                        return -errno;
                (void) fd_close(at);
                at = up;
                if (fstat(at, &above) < 0)
                        return -errno;
                if (above.st_dev == here.st_dev && above.st_ino == here.st_ino)
                        return 0;
                here = above;
        }
}

static int check_not_within(FileJob *job, int dirfd, const struct stat *from) {
        int r = S_ISDIR(from->st_mode) ? is_within(dirfd, from) : 0;

        return r == 1 ? job_fail(job, -EINVAL, job->request->target) : r;
}

/* Copies under another name first, then renames into place. */
static int copy_to_place(FileCopy *c, int from_dirfd, const char *from, bool follow, const FilePlace *to, bool no_replace) {
        char name[TEMPORARY_NAME_SIZE];
        int r;

        temporary_name(name);
        r = copy_fresh(c, from_dirfd, from, follow, to->dirfd, name);
        if (r < 0)
                return r;
        r = rename_at(to->dirfd, name, to->dirfd, to->name, no_replace);
        if (r < 0) {
                (void) tree_remove(/* job= */ NULL, to->dirfd, name, &(uint64_t) { 0 });
                return job_fail(c->job, r, c->to);
        }
        return 0;
}

/* Copies a directory into an existing one. */
static int copy_merge(FileCopy *c, const char *from, const FilePlace *to, const struct stat *st) {
        _cleanup_close_ int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int out = openat(to->dirfd, to->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (in < 0)
                return -errno;
        if (out < 0)
                return job_fail(c->job, -errno, c->to);
        r = check_not_within(c->job, out, st);
        return r < 0 ? r : copy_into(c, in, out);
}

static int copy_checked(FileCopy *c, const FileRequest *q, const struct stat *st, const FilePlace *to) {
        const bool follow = !(q->flags & FILE_NO_FOLLOW), no_replace = q->flags & FILE_NO_REPLACE;
        struct stat old;
        int r;

        r = check_not_within(c->job, to->dirfd, st);
        if (r < 0)
                return r;
        if (fstatat(to->dirfd, to->name, &old, S_ISDIR(st->st_mode) ? 0 : AT_SYMLINK_NOFOLLOW) >= 0) {
                if (no_replace)
                        return job_fail(c->job, -EEXIST, q->target);
                if (S_ISDIR(old.st_mode) != S_ISDIR(st->st_mode))
                        return job_fail(c->job, S_ISDIR(old.st_mode) ? -EISDIR : -ENOTDIR, q->target);
                if (old.st_dev == st->st_dev && old.st_ino == st->st_ino)
                        return job_fail(c->job, -EINVAL, q->target); /* source and target are the same file */
                if (S_ISDIR(old.st_mode))
                        return copy_merge(c, q->path, to, st);
        }
        return copy_to_place(c, AT_FDCWD, q->path, follow, to, no_replace);
}

int op_copy(FileJob *job, uint64_t *ret_count) {
        const FileRequest *q = job->request;
        const bool follow = !(q->flags & FILE_NO_FOLLOW);
        _cleanup_place_ FilePlace to = PLACE_NONE;
        MadeDirectories made = { 0 };
        FileCopy c = { .job = job, .from = q->path, .to = q->target };
        struct stat st;
        int r = 0;

        if (fstatat(AT_FDCWD, q->path, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (!(S_ISDIR(st.st_mode) && (q->flags & FILE_RECURSIVE)) && !S_ISLNK(st.st_mode))
                r = mode_check_regular(st.st_mode);
        if (r >= 0)
                r = find_target(job, S_ISREG(st.st_mode) && !(q->flags & FILE_NO_REPLACE), &to, &made);
        if (r >= 0)
                r = copy_checked(&c, q, &st, &to);
        if (r < 0) {
                directories_unmake(&made);
                return r;
        }
        *ret_count = c.n;
        return file_move_answer(job, &to);
}

/* Moves between file systems: copies, then removes the original. The right to remove it is checked first. */
static int move_across(FileJob *job, const FilePlace *from, const FilePlace *to) {
        const FileRequest *q = job->request;
        const bool no_replace = q->flags & FILE_NO_REPLACE;
        FileCopy c = { .job = job, .from = q->path, .to = q->target };
        struct stat st, old;
        int r;

        if (faccessat(from->dirfd, ".", W_OK | X_OK, 0) < 0 ||
                        fstatat(from->dirfd, from->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (fstatat(to->dirfd, to->name, &old, AT_SYMLINK_NOFOLLOW) >= 0) {
                if (no_replace)
                        return job_fail(job, -EEXIST, q->target);
                if (S_ISDIR(old.st_mode) != S_ISDIR(st.st_mode))
                        return job_fail(job, S_ISDIR(old.st_mode) ? -EISDIR : -ENOTDIR, q->target);
        }
        r = check_not_within(job, to->dirfd, &st);
        if (r >= 0)
                r = copy_to_place(&c, from->dirfd, from->name, /* follow= */ false, to, no_replace);
        return r < 0 ? r : tree_remove(job, from->dirfd, from->name, &(uint64_t) { 0 });
}

int op_move(FileJob *job, uint64_t *ret_count) {
        const FileRequest *q = job->request;
        _cleanup_place_ FilePlace from = PLACE_NONE, to = PLACE_NONE;
        MadeDirectories made = MADE_DIRECTORIES_FOR(q);
        struct stat st;
        int r;

        r = file_place_find(q->path, &from);
        if (r < 0)
                return r;
        if (fstatat(from.dirfd, from.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno; /* so that a later ENOENT is about the target */
        r = find_target(job, /* follow= */ false, &to, &made);
        if (r < 0)
                return r;
        r = rename_at(from.dirfd, from.name, to.dirfd, to.name, q->flags & FILE_NO_REPLACE);
        if (r == -EXDEV)
                r = move_across(job, &from, &to);
        else if (r == -EEXIST || r == -ENOTEMPTY || r == -EISDIR || r == -ENOTDIR || r == -ENOENT)
                (void) job_fail(job, r, q->target);
        if (r < 0) {
                directories_unmake(&made);
                return r;
        }
        *ret_count = 1;
        return file_move_answer(job, &to);
}
