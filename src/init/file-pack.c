#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/links.h"
#include "init/file-place.h"
#include "init/file-walk.h"

static int pack_regular(FileJob *job, const Walk *w, Links *links, uint64_t *count) {
        _cleanup_close_ int fd = -EBADF;
        const char *first;
        struct stat st;
        int r = links_first(links, &w->st, w->path, &first);

        if (r < 0)
                return r;
        if (first) {
                (*count)++;
                return job_send_entry(job, w->path, first, &w->st, -EBADF);
        }
        r = regular_open(w->dirfd, w->name, O_NOFOLLOW, &st, &fd);
        if (r == -ENOENT || r == -ELOOP || r == -EISDIR || r == -EOPNOTSUPP)
                return 0; /* removed, or replaced by something else meanwhile */
        if (r < 0)
                return r;
        (*count)++;
        return job_send_entry(job, w->path, /* target= */ NULL, &st, fd);
}

/* Skips sockets and devices: an archive cannot restore them. */
static int pack_thing(FileJob *job, const Walk *w, Links *links, uint64_t *count) {
        char target[FILE_PATH_BYTES];
        int r;

        switch (w->st.st_mode & S_IFMT) {
        case S_IFREG: return pack_regular(job, w, links, count);
        case S_IFLNK:
                r = link_read(w->dirfd, w->name, target, sizeof(target));
                if (r < 0)
                        return r == -ENOENT || r == -EINVAL ? 0 : r;
                (*count)++;
                return job_send_entry(job, w->path, target, &w->st, -EBADF);
        case S_IFDIR:
        case S_IFIFO: (*count)++; return job_send_entry(job, w->path, /* target= */ NULL, &w->st, -EBADF);
        default: return 0;
        }
}

/* Whether the entry is a mount such as /proc or /sys below the tree, which is not part of the tree. */
static bool is_made_up(const Walk *w, const struct stat *top) {
        _cleanup_close_ int fd = -EBADF;

        if (!S_ISDIR(w->st.st_mode) || w->st.st_dev == top->st_dev)
                return false;
        fd = openat(w->dirfd, w->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd >= 0 && fd_is_made_up(fd);
}

/* A single file is sent under its own name: there is no directory that a path could be relative to. */
static int pack_file(FileJob *job, uint64_t *ret_count) {
        const char *path = job->request->path, *name = strrchr(path, '/');
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r = regular_open_path(path, &st, &fd);

        if (r < 0)
                return r;
        *ret_count = 1;
        return job_send_entry(job, name ? name + 1 : path, /* target= */ NULL, &st, fd);
}

int op_pack(FileJob *job, uint64_t *ret_count) {
        _cleanup_close_ int top = open(job->request->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_(links_done) Links links = { 0 };
        _cleanup_(walk_done) Walk w = { .top = top };
        uint64_t n = 1;
        struct stat st;
        int r;

        if (top < 0)
                return errno == ENOTDIR ? pack_file(job, ret_count) : -errno;
        if (fstat(top, &st) < 0)
                return -errno;
        r = job_send_entry(job, "", /* target= */ NULL, &st, -EBADF);
        while (r >= 0 && (r = walk_next(&w)) > 0) {
                r = pack_thing(job, &w, &links, &n);
                if (is_made_up(&w, &st))
                        walk_skip(&w);
        }
        if (r < 0)
                return job_fail_below(job, r, job->request->path, w.path);
        *ret_count = n;
        return 0;
}
