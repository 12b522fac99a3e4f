#include "agent/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/fileop.h"
#include "core/manager.h"

struct AgentUpload {
        FileOp *op;
        sd_event_source *writable;
        int writable_fd; /* a copy of the pipe's end, ours: the op may close its own at any time */
        char *data;
        size_t size, sent;
        char path[FILE_PATH_BYTES];
        UploadDone done;
        void *userdata;
};

static void stop_writing(AgentUpload *u) {
        u->writable = sd_event_source_disable_unref(u->writable);
        u->writable_fd = fd_close(u->writable_fd);
}

AgentUpload *upload_free(AgentUpload *u) {
        if (!u)
                return NULL;
        stop_writing(u);
        fileop_free(u->op);
        free(u->data);
        free(u);
        return NULL;
}

static void upload_finish(AgentUpload *u, int error) {
        char text[512];

        stop_writing(u);
        (void) snprintf(text, sizeof(text), "cannot write '%.200s': %s", u->path,
                        error == -EPIPE ? "the sandbox went away" : strerror(-error));
        u->done(error, error < 0 ? text : "", u->userdata); /* may free it */
}

static void upload_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        upload_finish(userdata, error);
}

/* EPIPE: the worker has given up; why, it tells by its last message. */
static int upload_on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        AgentUpload *u = userdata;
        ssize_t n = fileop_write(u->op, u->data + u->sent, u->size - u->sent);

        if (n == -EAGAIN)
                return 0;
        if (n < 0 || u->sent + (size_t) n == u->size) {
                bool whole = n >= 0;

                stop_writing(u); /* the worker sees the end when the last copy is closed */
                if (whole)
                        (void) fileop_commit(u->op);
                return 0;
        }
        u->sent += (size_t) n;
        return 0;
}

static int write_when_possible(AgentUpload *u, sd_event *event) {
        u->writable_fd = fcntl(fileop_data_fd(u->op), F_DUPFD_CLOEXEC, 3);
        if (u->writable_fd < 0)
                return -errno;
        return sd_event_add_io(event, &u->writable, u->writable_fd, EPOLLOUT, upload_on_writable, u);
}

int upload_start(Sandbox *sb, const char *path, uint32_t mode, const void *data, size_t size, UploadDone done, void *userdata, AgentUpload **ret,
                Error *reterr) {
        static const FileOpHandlers handlers = { .end = upload_on_end };
        FileRequest request = {
                .operation = FILE_WRITE,
                .flags = FILE_PARENTS,
                .uid = sb->spec.uid,
                .gid = sb->spec.gid,
                .mode = mode,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
        };
        AgentUpload *u = calloc(1, sizeof(*u));
        int r;

        if (!u)
                return error_set(reterr, -ENOMEM, "out of memory");
        *u = (AgentUpload) { .writable_fd = -EBADF, .size = size, .done = done, .userdata = userdata };
        (void) snprintf(u->path, sizeof(u->path), "%s", path);
        memcpy(request.path, u->path, sizeof(request.path));
        u->data = malloc(size + 1);
        r = u->data ? 0 : error_set(reterr, -ENOMEM, "out of memory");
        if (r >= 0) {
                memcpy(u->data, data, size);
                r = fileop_start(sb, &request, &handlers, u, &u->op, reterr);
        }
        if (r >= 0) {
                r = write_when_possible(u, sb->manager->event);
                if (r < 0)
                        (void) error_set(reterr, r, "cannot write '%s': %m", path);
        }
        if (r < 0) {
                (void) upload_free(u);
                return r;
        }
        *ret = u;
        return 0;
}
