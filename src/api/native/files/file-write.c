/* file-write.c: the bytes of a file that comes. They go into a pipe whose other end the worker inside holds; the file is
 * there, whole, when the body has ended and the worker was told so. A client that goes away in the middle leaves nothing. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "api/native/files/files.h"
#include "base/fd.h"

typedef struct FileWriter {
        ApiRequest *q;
        FileOp *op;
        sd_event_source *writable;
        int writable_fd; /* a copy of the pipe's end, ours: the op may close its own at any time */
        bool committed, has_entry;
        FileEntry entry;
        char path[FILE_PATH_BYTES];
} FileWriter;

static void file_write_stop_waiting(FileWriter *w) {
        w->writable = sd_event_source_disable_unref(w->writable);
        w->writable_fd = fd_close(w->writable_fd);
}

static void file_write_writer_destroy(ApiRequest *q, bool answered) {
        FileWriter *w = q->state;

        file_write_stop_waiting(w);
        fileop_free(w->op);
        free(w);
        q->state = NULL;
}

static int file_write_on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        FileWriter *w = userdata;

        http_request_continue(w->q->http);
        return 0;
}

static int file_write_wait_writable(FileWriter *w) {
        int r;

        if (!w->writable) {
                w->writable_fd = fcntl(fileop_data_fd(w->op), F_DUPFD_CLOEXEC, 3);
                if (w->writable_fd < 0)
                        return -errno;
                r = sd_event_add_io(w->q->manager->event, &w->writable, w->writable_fd, EPOLLOUT, file_write_on_writable, w);
                if (r < 0)
                        return r;
        }
        return sd_event_source_set_enabled(w->writable, SD_EVENT_ONESHOT);
}

static void file_write_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FileWriter *w = userdata;

        w->has_entry = true;
        w->entry = *entry;
}

/* Also in the middle of the body, when the disk is full. The count is 1 when a file was replaced. */
static void file_write_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FileWriter *w = userdata;

        file_write_stop_waiting(w);
        if (error < 0)
                (void) file_answer_error(w->q, error, path && path[0] ? path : w->path);
        else if (!w->committed || !w->has_entry)
                (void) api_errno(w->q, -EPROTO, "the sandbox has not said what became of it");
        else
                (void) file_answer_entry(w->q, count > 0 ? 200 : 201, &w->entry);
}

static int file_write_read_query(ApiRequest *q, FileRequest *g) {
        const char *path = http_query(q->http, "path");
        bool parents = true, replace = true;
        NativeUser owner = { 0 };

        if (file_request_query(q, FILE_WRITE, g) < 0 || native_query_mode(q, "mode", &g->mode) < 0 ||
            native_query_user(q, "owner", &owner) < 0 || api_query_bool(q, "parents", &parents) < 0 ||
            api_query_bool(q, "replace", &replace) < 0)
                return -EINVAL;
        if (path[strlen(path) - 1] == '/') {
                (void) file_answer_error(q, -EISDIR, path);
                return -EISDIR;
        }
        if (owner.given) {
                g->owner = owner.uid;
                g->group = owner.gid;
        }
        g->flags = (parents ? FILE_PARENTS : 0) | (replace ? 0 : FILE_NO_REPLACE);
        return 0;
}

void native_file_write(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = file_write_on_entry, .end = file_write_on_end };
        Error error = { 0 };
        FileWriter *w;
        FileRequest g;
        int r;

        if (file_write_read_query(q, &g) < 0)
                return;
        w = calloc(1, sizeof(*w));
        if (!w) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        w->q = q;
        w->writable_fd = -EBADF;
        memcpy(w->path, g.path, sizeof(w->path));
        q->state = w;
        q->destroy = file_write_writer_destroy;
        r = fileop_start(q->sandbox, &g, &handlers, w, &w->op, &error);
        if (r < 0)
                (void) native_core_error(q, r, error.text);
}

static ssize_t file_write_fail(FileWriter *w, int r) {
        file_write_stop_waiting(w);
        (void) file_answer_error(w->q, r, w->path);
        return r;
}

static void file_write_commit(FileWriter *w) {
        int r;

        file_write_stop_waiting(w); /* the worker sees the end when the last copy is closed */
        w->committed = true;
        r = fileop_commit(w->op);
        if (r < 0 && r != -EPIPE)
                (void) file_write_fail(w, r);
}

ssize_t native_file_write_data(ApiRequest *q, const void *data, size_t size) {
        FileWriter *w = q->state;
        ssize_t n;
        int r;

        if (q->answered || !w || !w->op)
                return -ECANCELED;
        if (size == 0) {
                file_write_commit(w);
                return 0;
        }
        n = fileop_write(w->op, data, size);
        if (n == -EPIPE || n == -EBADF)
                return 0; /* the worker has given up; why, it tells by its last message */
        if (n < 0 && n != -EAGAIN)
                return file_write_fail(w, (int) n);
        if (n < 0 || (size_t) n < size) {
                r = file_write_wait_writable(w);
                if (r < 0)
                        return file_write_fail(w, r);
        }
        return MAX_OF(n, (ssize_t) 0);
}
