/* Making directories; modes and owners. */
#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "init/file-place.h"
#include "init/file-walk.h"

#define DIRECTORY_MODE 0755

static bool is_given(const FileRequest *q) {
        return q->mode != FILE_MODE_NONE || q->owner != FILE_ID_NONE || q->group != FILE_ID_NONE;
}

/* Sets the owner and the mode that are given. A change of owner clears set-id bits, so the mode comes second. */
static int file_change_dress(int fd, mode_t type, const FileRequest *q) {
        int r = 0;

        if (q->owner != FILE_ID_NONE || q->group != FILE_ID_NONE)
                r = fd_chown(fd, q->owner, q->group);
        if (r >= 0 && q->mode != FILE_MODE_NONE && !S_ISLNK(type))
                r = fd_chmod(fd, q->mode & 07777);
        return r;
}

static int mkdir_one(const FilePlace *place, const FileRequest *q) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (mkdirat(place->dirfd, place->name, q->mode != FILE_MODE_NONE ? q->mode & 0777 : DIRECTORY_MODE) < 0)
                return -errno;
        if (!is_given(q))
                return 0;
        fd = openat(place->dirfd, place->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        r = fd < 0 ? -errno : file_change_dress(fd, S_IFDIR, q);
        if (r < 0)
                (void) unlinkat(place->dirfd, place->name, AT_REMOVEDIR);
        return r;
}

static int mkdir_with_parents(const FileRequest *q, MadeDirectories *made) {
        _cleanup_place_ FilePlace place = PLACE_NONE;
        int r = file_place_find(q->path, &place);

        if (r == -ENOENT && (q->flags & FILE_PARENTS)) {
                r = directories_make(q->path, /* parents_only= */ true, made);
                if (r >= 0)
                        r = file_place_find(q->path, &place);
        }
        if (r >= 0)
                r = mkdir_one(&place, q);
        if (r < 0)
                directories_unmake(made);
        else
                made->n++;
        return r;
}

int op_mkdir(FileJob *job, uint64_t *ret_count) {
        const FileRequest *q = job->request;
        MadeDirectories made = MADE_DIRECTORIES_FOR(q);
        struct stat st;
        int r = mkdir_with_parents(q, &made);

        /* With parents, an existing directory counts as made, "/" and "." too. */
        if (r < 0 && (q->flags & FILE_PARENTS) && stat(q->path, &st) >= 0)
                r = S_ISDIR(st.st_mode) ? 0 : -EEXIST;
        if (r < 0)
                return r == -EBUSY || r == -EINVAL ? -EEXIST : r;
        if (stat(q->path, &st) < 0)
                return -errno;
        *ret_count = made.n;
        return job_send_entry(job, q->path, /* target= */ NULL, &st, -EBADF);
}

/* Changes everything below, each directory after its contents: its mode may deny us access. */
static int dress_below(FileJob *job, int top, uint64_t *count) {
        _cleanup_(walk_done) Walk w = { .top = top, .want_after = true };
        int r;

        while ((r = walk_next(&w)) > 0) {
                _cleanup_close_ int fd = -EBADF;

                r = job_alive(job);
                if (r < 0)
                        return r;
                if (S_ISDIR(w.st.st_mode) && !w.after)
                        continue;
                fd = openat(w.dirfd, w.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
                r = fd < 0 ? -errno : file_change_dress(fd, w.st.st_mode, job->request);
                if (r == -ENOENT)
                        continue;
                if (r < 0)
                        break;
                (*count)++;
        }
        return r < 0 ? job_fail_below(job, r, job->request->path, w.path) : 0;
}

int op_chmod(FileJob *job, uint64_t *ret_count) {
        const FileRequest *q = job->request;
        _cleanup_close_ int fd = open(q->path, O_PATH | O_CLOEXEC);
        struct stat st;
        uint64_t n = 0;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if ((q->flags & FILE_RECURSIVE) && S_ISDIR(st.st_mode)) {
                r = dress_below(job, fd, &n);
                if (r < 0)
                        return r;
        }
        r = file_change_dress(fd, st.st_mode, q);
        if (r < 0)
                return r;
        if (fstat(fd, &st) < 0)
                return -errno;
        *ret_count = n + 1;
        return job_send_entry(job, q->path, /* target= */ NULL, &st, -EBADF);
}
