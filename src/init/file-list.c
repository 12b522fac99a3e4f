#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>

#include "init/file-place.h"
#include "init/file-walk.h"

/* Sends an entry, with the target if it is a link. */
static int send_thing(FileJob *job, const char *path, int dirfd, const char *name, const struct stat *st) {
        char target[FILE_PATH_BYTES] = "";

        if (S_ISLNK(st->st_mode))
                (void) link_read(dirfd, name, target, sizeof(target)); /* on failure the link is gone meanwhile: it is sent without a target */
        return job_send_entry(job, path, target, st, -EBADF);
}

int op_stat(FileJob *job, uint64_t *ret_count) {
        const char *path = job->request->path;
        struct stat st;

        if (fstatat(AT_FDCWD, path, &st, job->request->flags & FILE_NO_FOLLOW ? AT_SYMLINK_NOFOLLOW : 0) < 0)
                return -errno;
        *ret_count = 1;
        return send_thing(job, path, AT_FDCWD, path, &st);
}

/* A directory below that may not be read is listed but not entered: its own mode says why it looks empty. */
int op_list(FileJob *job, uint64_t *ret_count) {
        _cleanup_close_ int top = open(job->request->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_(walk_done) Walk w = { .top = top, .skip_forbidden = true };
        const unsigned depth = job->request->depth > 0 ? job->request->depth : 1;
        uint64_t n = 0;
        int r;

        if (top < 0)
                return -errno;
        while ((r = walk_next(&w)) > 0) {
                n++;
                if (job->request->limit > 0 && n > job->request->limit)
                        break;
                r = send_thing(job, w.path, w.dirfd, w.name, &w.st);
                if (r < 0)
                        return r;
                if (w.depth >= depth)
                        walk_skip(&w);
        }
        if (r < 0)
                return job_fail_below(job, r, job->request->path, w.path);
        *ret_count = n;
        return 0;
}
