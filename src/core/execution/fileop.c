#include "core/fileop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/internal.h"
#include "core/provider.h"
#include "core/recorder.h"

#define PIPE_BYTES (256 * 1024)

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

struct FileOp {
        FileOpHandlers handlers;
        void *userdata;
        Provider *provider; /* NULL: the provider does nothing more for it */
        void *provider_data;
        int data_fd;         /* our nonblocking end of the pipe; -EBADF: no more is written */
        sd_event *event;
        sd_event_source *writable; /* of data_fd, while the caller waits for room */
        const char *rest;    /* of fileop_write_all(); NULL: the caller writes */
        size_t rest_size;
        FileOperation operation;
        uint64_t limit; /* the most entries that may come; 0: any number */
        uint64_t n_entries;
        bool detailed;
        bool stands; /* a watch that has reported its END */
        unsigned busy; /* running handlers: the memory stays until they have returned */
        bool freed;
        const CoreRecorder *recorder; /* the recorder of `recorded` */
        RecordedFile *recorded;       /* NULL: not recorded */
};

/* The answers that a provider may give, by operation. They are checked, because a guest may have made them up. */
static const struct {
        uint8_t entries;   /* the exact number, or ANY_NUMBER */
        bool descriptor;   /* with a regular file's entry */
        bool relative;     /* paths are below the requested one */
        bool events;
        bool changes;      /* changes files inside */
} rules[_FILE_OPERATION_MAX] = {
#define ANY_NUMBER UINT8_MAX
        [FILE_STAT]   = { .entries = 1 },
        [FILE_LIST]   = { .entries = ANY_NUMBER, .relative = true },
        [FILE_READ]   = { .entries = 1, .descriptor = true },
        [FILE_WRITE]  = { .entries = 1, .changes = true },
        [FILE_MKDIR]  = { .entries = 1, .changes = true },
        [FILE_MOVE]   = { .entries = 1, .changes = true },
        [FILE_COPY]   = { .entries = 1, .changes = true },
        [FILE_CHMOD]  = { .entries = 1, .changes = true },
        [FILE_REMOVE] = { .entries = 0, .changes = true },
        [FILE_WATCH]  = { .entries = ANY_NUMBER, .relative = true, .events = true },
        [FILE_PACK]   = { .entries = ANY_NUMBER, .descriptor = true, .relative = true },
        [FILE_UNPACK] = { .entries = 0, .changes = true },
};

static void fileop_close_data(FileOp *op) {
        op->writable = sd_event_source_disable_unref(op->writable);
        op->data_fd = fd_close(op->data_fd);
}

static void fileop_stop(FileOp *op) {
        Provider *p = op->provider;

        fileop_close_data(op);
        op->provider = NULL;
        if (p)
                p->ops->file_end(p, op);
}

void fileop_tell_data(FileOp *op, const void *data, size_t size) {
        if (op->recorded && size > 0)
                op->recorder->file_data(op->recorded, data, size);
}

void fileop_tell_end(FileOp *op, bool done) {
        if (op->recorded)
                op->recorder->file_end(TAKE_PTR(op->recorded), done);
}

FileOp *fileop_free(FileOp *op) {
        if (!op)
                return NULL;
        fileop_stop(op);
        fileop_tell_end(op, /* done= */ false);
        if (op->busy)
                op->freed = true;
        else
                free(op);
        return NULL;
}

static void fileop_finish(FileOp *op, int error, const char *path, uint64_t count) {
        fileop_stop(op);
        fileop_tell_end(op, /* done= */ error == 0);
        if (op->handlers.end)
                op->handlers.end(op, error, path, count, op->userdata);
}

/* False for absolute paths and for paths with "." or "..". */
static bool is_relative(const char *path) {
        for (const char *p = path; *p;) {
                size_t n = strcspn(p, "/");

                if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
                        return false;
                p += n;
                if (*p == '/' && *++p == '\0')
                        return false;
        }
        return true;
}

static bool path_is_right(const FileOp *op, const char *path) {
        return rules[op->operation].relative ? is_relative(path) : path[0] == '/';
}

/* True if the file can be read without waiting for the sandbox. */
static bool descriptor_is_right(int fd, uint64_t *ret_size) {
        struct statfs fs;
        struct stat st;
        int flags = fcntl(fd, F_GETFL);

        if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY)
                return false;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0)
                return false;
        *ret_size = (uint64_t) MAX_OF(st.st_size, 0);
        return fs.f_type != FUSE_SUPER_MAGIC && fs.f_type != PROC_SUPER_MAGIC && fs.f_type != NFS_SUPER_MAGIC;
}

static bool entry_is_right(const FileOp *op, FileEntry *e, int fd) {
        const uint8_t entries = rules[op->operation].entries;

        if (entries != ANY_NUMBER ? op->n_entries >= entries : op->limit > 0 && op->n_entries >= op->limit)
                return false;
        if (rules[op->operation].events && !(op->stands && op->detailed))
                return false;
        if (op->detailed != e->detailed || !path_is_right(op, e->path) || (e->hard && !is_relative(e->target)))
                return false;
        if (rules[op->operation].descriptor && S_ISREG(e->mode) && !e->hard)
                return fd >= 0 && descriptor_is_right(fd, &e->size);
        return fd < 0;
}

/* Answers of the provider. A handler may free the operation. */

static void fileop_enter(FileOp *op) {
        op->busy++;
}

static void fileop_leave(FileOp *op) {
        if (--op->busy == 0 && op->freed)
                free(op);
}

void fileop_on_entry(FileOp *op, FileEntry *entry, int fd) {
        fileop_enter(op);
        if (!entry_is_right(op, entry, fd)) {
                (void) fd_close(fd);
                fileop_finish(op, -EBADMSG, "", 0);
        } else {
                op->n_entries++;
                if (op->handlers.entry)
                        op->handlers.entry(op, entry, fd, op->userdata);
                else
                        (void) fd_close(fd);
        }
        fileop_leave(op);
}

void fileop_on_end(FileOp *op, uint64_t count) {
        const uint8_t entries = rules[op->operation].entries;

        fileop_enter(op);
        if (op->stands || (entries != ANY_NUMBER && op->n_entries != entries))
                fileop_finish(op, -EBADMSG, "", 0);
        else if (!rules[op->operation].events)
                fileop_finish(op, 0, "", count);
        else {
                op->stands = true;
                if (op->handlers.end)
                        op->handlers.end(op, 0, "", count, op->userdata);
        }
        fileop_leave(op);
}

void fileop_on_failed(FileOp *op, int error, const char *path) {
        fileop_enter(op);
        fileop_finish(op, error < 0 ? error : -EBADMSG, path, 0);
        fileop_leave(op);
}

void fileop_on_event(FileOp *op, const FileEvent *event) {
        fileop_enter(op);
        if (!op->stands || !is_relative(event->path) || !is_relative(event->target))
                fileop_finish(op, -EBADMSG, "", 0);
        else if (op->handlers.event)
                op->handlers.event(op, event, op->userdata);
        fileop_leave(op);
}

void *fileop_provider_data(const FileOp *op) {
        return op->provider_data;
}

void fileop_set_provider_data(FileOp *op, void *data) {
        op->provider_data = data;
}

/* What the core asks. */

static int fileop_check_state(const Sandbox *sb, Error *reterr) {
        bool unfinished = sb->status == SANDBOX_INITIALIZING && sb->activity == ACTIVITY_CONNECTING; /* PID 1 is there; only the core itself asks */

        if (!sandbox_can_run(sb) && !unfinished)
                return error_set(reterr, -ESTALE, "Sandbox not running (state: %s)", sandbox_state_text(sb));
        return 0;
}

static int fileop_check_request(const FileRequest *q, Error *reterr) {
        const bool has_target = q->operation == FILE_MOVE || q->operation == FILE_COPY;

        if (q->operation < FILE_STAT || q->operation >= _FILE_OPERATION_MAX)
                return error_set(reterr, -EINVAL, "no such file operation: %u", q->operation);
        if (q->path[0] != '/' || (has_target && q->target[0] != '/'))
                return error_set(reterr, -EINVAL, "'%.200s' is not an absolute path", q->path[0] != '/' ? q->path : q->target);
        return 0;
}

/* Our end is nonblocking; the worker's end may block. */
static int fileop_make_pipe(int *ret_read, int *ret_write) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        if (fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        (void) fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES); /* may fail: all pipes of a user may have a common limit */
        return 0;
}

static int fileop_ask(FileOp *op, Sandbox *sb, const FileRequest *request) {
        Provider *p = sb->manager->provider;
        _cleanup_close_ int data = -EBADF;
        int r;

        if (op->operation == FILE_WRITE) {
                r = fileop_make_pipe(&data, &op->data_fd);
                if (r < 0)
                        return r;
        }
        r = p->ops->file_start(p, sb, request, data, op);
        if (r >= 0)
                op->provider = p;
        return r;
}

/* Files that the core itself writes while the sandbox is made are not recorded. */
static void fileop_record(FileOp *op, Sandbox *sb, const FileRequest *request) {
        op->recorder = recorder_of(sb);
        if (op->recorder && rules[op->operation].changes && sb->status != SANDBOX_INITIALIZING)
                op->recorded = op->recorder->file_begin(sb, request, op->recorder->userdata);
}

int fileop_start(Sandbox *sb, const FileRequest *request, const FileOpHandlers *handlers, void *userdata, FileOp **ret,
                Error *reterr) {
        FileOp *op;
        int r;

        r = fileop_check_state(sb, reterr);
        if (r >= 0)
                r = fileop_check_request(request, reterr);
        if (r >= 0 && (request->operation == FILE_PACK || request->operation == FILE_UNPACK))
                r = provider_require(sb->manager->provider, PROVIDER_ARCHIVES, reterr);
        if (r < 0)
                return r;
        op = calloc(1, sizeof(*op));
        if (!op)
                return error_set(reterr, -ENOMEM, "out of memory");
        *op = (FileOp) {
                .handlers = *handlers,
                .userdata = userdata,
                .data_fd = -EBADF,
                .event = sb->manager->event,
                .operation = (FileOperation) request->operation,
                .limit = request->operation == FILE_LIST ? request->limit : 0,
                .detailed = request->flags & FILE_DETAILS,
        };
        r = fileop_ask(op, sb, request);
        if (r < 0) {
                (void) fileop_free(op);
                return error_set(reterr, r, "cannot reach the sandbox: %m");
        }
        sb->operations++;
        fileop_record(op, sb, request);
        *ret = op;
        return 0;
}

/* A worker that has given up reports its own end. */
static int fileop_on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        FileOp *op = userdata;
        int r = 0;

        fileop_enter(op);
        if (op->rest)
                r = fileop_write_all(op, op->rest, op->rest_size);
        else if (op->handlers.writable)
                op->handlers.writable(op, op->userdata);
        if (r < 0 && r != -EPIPE)
                fileop_finish(op, r, "", 0);
        fileop_leave(op);
        return 0;
}

int fileop_wait(FileOp *op) {
        int r = 0;

        if (!op->writable)
                r = sd_event_add_io(op->event, &op->writable, op->data_fd, EPOLLOUT, fileop_on_writable, op);
        return r < 0 ? r : sd_event_source_set_enabled(op->writable, SD_EVENT_ONESHOT);
}

ssize_t fileop_write(FileOp *op, const void *data, size_t size) {
        ssize_t n;
        int r;

        if (op->data_fd < 0)
                return -EPIPE;
        do
                n = write(op->data_fd, data, size);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN)
                return -errno;
        n = MAX_OF(n, (ssize_t) 0);
        fileop_tell_data(op, data, (size_t) n);
        r = (size_t) n < size ? fileop_wait(op) : 0;
        return r < 0 ? r : n;
}

int fileop_commit(FileOp *op) {
        fileop_close_data(op);
        return op->provider ? op->provider->ops->file_commit(op->provider, op) : -EPIPE;
}

int fileop_write_all(FileOp *op, const void *data, size_t size) {
        ssize_t n = fileop_write(op, data, size);

        if (n < 0)
                return (int) n;
        op->rest = (const char *) data + n;
        op->rest_size = size - (size_t) n;
        return op->rest_size == 0 ? fileop_commit(op) : 0;
}

int fileop_take_channel(FileOp *op) {
        return op->provider ? op->provider->archives->take_channel(op->provider, op) : -EPIPE;
}

int fileop_pause(FileOp *op, bool pause) {
        return op->provider ? op->provider->ops->file_pause(op->provider, op, pause) : 0;
}
