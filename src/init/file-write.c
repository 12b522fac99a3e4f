#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "init/file-detail.h"
#include "init/file-place.h"

#define CHUNK_SIZE   (256 * 1024)
#define MODE_DEFAULT 0644

/* A file being written: complete under a temporary name, then put in place by one rename. */
typedef struct Draft {
        FilePlace place;
        char name[TEMPORARY_NAME_SIZE]; /* empty: no temporary file */
        int fd;
        bool replaces;
        struct stat old; /* status of the file that it replaces */
        MadeDirectories parents;
} Draft;

static void draft_done(Draft *d) {
        if (d->name[0] != '\0') {
                (void) unlinkat(d->place.dirfd, d->name, 0);
                directories_unmake(&d->parents);
        }
        (void) fd_close(d->fd);
        file_place_done(&d->place);
}

static int draft_look(Draft *d, bool no_replace) {
        if (fstatat(d->place.dirfd, d->place.name, &d->old, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        d->replaces = true;
        return no_replace ? -EEXIST : mode_check_regular(d->old.st_mode);
}

static int draft_open(Draft *d, const FileRequest *request) {
        const bool no_replace = request->flags & FILE_NO_REPLACE;
        int r;

        /* If the file must not exist yet, a link at its path counts as existing. */
        r = place_find_file(request->path, !no_replace, &d->place);
        if (r == -ENOENT && (request->flags & FILE_PARENTS)) {
                r = directories_make(request->path, /* parents_only= */ true, &d->parents);
                if (r >= 0)
                        r = place_find_file(request->path, !no_replace, &d->place);
        }
        if (r >= 0)
                r = draft_look(d, no_replace);
        if (r >= 0)
                r = temporary_file(d->place.dirfd, d->name, &d->fd);
        if (r < 0) {
                d->name[0] = '\0';
                directories_unmake(&d->parents);
        }
        return r;
}

/* Moves one portion out of the pipe. Returns the bytes, 0 at its end, -EAGAIN. */
static ssize_t take_some(int from, int to, bool *splices) {
        static char buffer[CHUNK_SIZE];
        ssize_t n;
        int r;

        if (*splices) {
                n = splice(from, NULL, to, NULL, CHUNK_SIZE, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
                if (n >= 0 || errno != EINVAL)
                        return n < 0 ? -errno : n;
                *splices = false; /* this file system, or this pipe, does not splice */
        }
        n = read(from, buffer, sizeof(buffer));
        if (n <= 0)
                return n < 0 ? -errno : 0;
        r = fd_write_all(to, buffer, (size_t) n);
        return r < 0 ? r : n;
}

static int take_all(int to, const FileJob *job) {
        bool splices = true;

        for (;;) {
                struct pollfd fds[] = {
                        { .fd = job->data_fd, .events = POLLIN },
                        { .fd = job->channel, .events = 0      }, /* COMMIT may be waiting there already; only its end matters */
                };
                ssize_t n;

                if (poll(fds, ELEMENTSOF(fds), -1) < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (fds[1].revents)
                        return -EPIPE;
                n = take_some(job->data_fd, to, &splices);
                if (n == 0)
                        return 0;
                if (n < 0 && n != -EAGAIN && n != -EINTR)
                        return (int) n;
        }
}

static int await_commit(FileJob *job) {
        FileMessage m;
        int r = job_receive(job, &m);

        if (r < 0)
                return r;
        return m.type == FILE_COMMIT ? 0 : -EPROTO;
}

/* Sets the requested mode and owner, or those of the replaced file, so that replacing looks like writing into
 * it. Set-id bits are not kept: writing clears them as well. */
static int draft_dress(Draft *d, const FileJob *job) {
        const FileRequest *q = job->request;
        mode_t mode = q->mode != FILE_MODE_NONE ? q->mode & 07777 : d->replaces ? d->old.st_mode & 0777 : MODE_DEFAULT;

        if (q->owner != FILE_ID_NONE || q->group != FILE_ID_NONE) {
                if (fchown(d->fd, q->owner, q->group) < 0)
                        return -errno;
        } else if (d->replaces && job->root)
                (void) fchown(d->fd, d->old.st_uid, d->old.st_gid); /* an id that is not mapped cannot be set */
        if (fchmod(d->fd, mode) < 0)
                return -errno;
        return q->flags & FILE_SET_LABELS ? labels_replace(d->fd, q->labels, q->labels_size) : 0;
}

static int draft_publish(Draft *d, const FileJob *job) {
        int r = draft_dress(d, job);

        if (r < 0)
                return r;
        r = rename_at(d->place.dirfd, d->name, d->place.dirfd, d->place.name, job->request->flags & FILE_NO_REPLACE);
        if (r < 0)
                return r;
        d->name[0] = '\0';
        return 0;
}

/* A file that is written in place. If the write is abandoned, a file that did not exist before is removed; an
 * existing one keeps the data written so far. */
typedef struct Opened {
        FilePlace place;
        int fd;
        bool fresh, done;
        MadeDirectories parents;
} Opened;

static void opened_done(Opened *o) {
        struct stat ours, there;

        if (o->fresh && !o->done && fstat(o->fd, &ours) >= 0 &&
            fstatat(o->place.dirfd, o->place.name, &there, AT_SYMLINK_NOFOLLOW) >= 0 && ours.st_ino == there.st_ino &&
            ours.st_dev == there.st_dev)
                (void) unlinkat(o->place.dirfd, o->place.name, 0);
        if (!o->done)
                directories_unmake(&o->parents);
        (void) fd_close(o->fd);
        file_place_done(&o->place);
}

/* No O_CREAT for an existing file: the kernel restricts that in directories like /tmp (fs.protected_regular). */
static int opened_open(Opened *o, const FileRequest *q) {
        const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        struct stat st;
        int r;

        r = place_find_file(q->path, /* follow= */ true, &o->place);
        if (r == -ENOENT && (q->flags & FILE_PARENTS)) {
                r = directories_make(q->path, /* parents_only= */ true, &o->parents);
                if (r >= 0)
                        r = place_find_file(q->path, /* follow= */ true, &o->place);
        }
        if (r < 0)
                return r;
        o->fresh = fstatat(o->place.dirfd, o->place.name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
        /* The type is checked before opening: an open of a pipe or a device can affect the process at its other end. */
        if (!o->fresh && mode_check_regular(st.st_mode) < 0)
                return mode_check_regular(st.st_mode);
        o->fd = openat(o->place.dirfd, o->place.name, flags | (o->fresh ? O_CREAT | O_EXCL : 0), MODE_DEFAULT);
        if (o->fd < 0) {
                r = -errno;
                o->fresh = false;
                return r;
        }
        return fstat(o->fd, &st) < 0 ? -errno : mode_check_regular(st.st_mode);
}

static int opened_prepare(Opened *o, const FileRequest *q) {
        if ((q->owner != FILE_ID_NONE || q->group != FILE_ID_NONE) && fchown(o->fd, q->owner, q->group) < 0)
                return -errno;
        if (q->mode != FILE_MODE_NONE && fchmod(o->fd, q->mode & 07777) < 0)
                return -errno;
        if (o->fresh) /* it is empty; truncating it would be one more event for watchers */
                return 0;
        return ftruncate(o->fd, 0) < 0 && !fd_is_made_up(o->fd) ? -errno : 0;
}

static int write_in_place(FileJob *job, uint64_t *ret_count) {
        const FileRequest *q = job->request;
        _cleanup_(opened_done) Opened o = { .place = PLACE_NONE, .fd = -EBADF, .parents = MADE_DIRECTORIES_FOR(q) };
        struct stat st;
        int r;

        r = opened_open(&o, q);
        if (r >= 0)
                r = opened_prepare(&o, q);
        if (r >= 0)
                r = take_all(o.fd, job);
        if (r >= 0)
                r = await_commit(job);
        if (r >= 0 && (q->flags & FILE_SET_LABELS))
                r = labels_replace(o.fd, q->labels, q->labels_size);
        if (r < 0)
                return r;
        o.done = true;
        if (fstat(o.fd, &st) < 0)
                return -errno;
        *ret_count = !o.fresh;
        return job_send_entry(job, q->path, /* target= */ NULL, &st, -EBADF);
}

int op_write(FileJob *job, uint64_t *ret_count) {
        _cleanup_(draft_done) Draft d = { .place = PLACE_NONE, .fd = -EBADF, .parents = MADE_DIRECTORIES_FOR(job->request) };
        struct stat st;
        int r;

        if (job->data_fd < 0)
                return -EPROTO;
        if (job->request->flags & FILE_IN_PLACE)
                return write_in_place(job, ret_count);
        r = draft_open(&d, job->request);
        if (r < 0)
                return r;
        r = take_all(d.fd, job);
        if (r < 0)
                return r;
        r = await_commit(job);
        if (r < 0)
                return r;
        r = draft_publish(&d, job);
        if (r < 0)
                return r;
        if (fstat(d.fd, &st) < 0)
                return -errno;
        *ret_count = d.replaces;
        return job_send_entry(job, job->request->path, /* target= */ NULL, &st, -EBADF);
}
