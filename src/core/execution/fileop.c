#include "core/fileop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/internal.h"
#include "core/provider.h"
#include "core/recorder.h"
#include "wire/channel.h"

#define MESSAGES_PER_TURN 64 /* then others of the loop have theirs */
#define PIPE_BYTES        (256 * 1024)

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

struct FileOp {
        FileOpHandlers handlers;
        void *userdata;
        sd_event_source *source;
        int channel;
        int data_fd;
        FileOperation operation;
        uint64_t limit; /* entries that may come; 0: any number */
        uint64_t n_entries;
        bool detailed;
        bool stands; /* a watch, after its END */
        bool paused;
        bool busy;  /* a handler may be running: the memory stays until it has returned */
        bool freed;
        const CoreRecorder *recorder; /* of recorded */
        RecordedFile *recorded;       /* NULL: it is not */
};

/* What the worker may say, by operation. */
static const struct {
        uint8_t entries;   /* exactly so many; ANY_NUMBER */
        bool descriptor;   /* with a regular file's entry */
        bool relative;     /* paths are below what was asked for */
        bool events;
        bool changes;      /* what is inside */
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

static void fileop_stop(FileOp *op) {
        op->source = sd_event_source_disable_unref(op->source);
        op->channel = fd_close(op->channel);
        op->data_fd = fd_close(op->data_fd);
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

/* Not upwards, and nowhere else. */
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

/* A file whose reading cannot make us wait for the sandbox. */
static bool descriptor_is_right(int fd) {
        struct statfs fs;
        struct stat st;
        int flags = fcntl(fd, F_GETFL);

        if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY)
                return false;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0)
                return false;
        return fs.f_type != FUSE_SUPER_MAGIC && fs.f_type != PROC_SUPER_MAGIC && fs.f_type != NFS_SUPER_MAGIC;
}

static bool entry_is_right(const FileOp *op, const FileEntry *e, int fd) {
        const uint8_t entries = rules[op->operation].entries;

        if (entries != ANY_NUMBER ? op->n_entries >= entries : op->limit > 0 && op->n_entries >= op->limit)
                return false;
        if (rules[op->operation].events && !(op->stands && op->detailed))
                return false;
        if (op->detailed != e->detailed || !path_is_right(op, e->path) || (e->hard && !is_relative(e->target)))
                return false;
        if (rules[op->operation].descriptor && S_ISREG(e->mode) && !e->hard)
                return fd >= 0 && descriptor_is_right(fd);
        return fd < 0;
}

static int fileop_on_entry(FileOp *op, const FileMessage *m, int *fd) {
        if (!entry_is_right(op, &m->entry, *fd))
                return -EBADMSG;
        op->n_entries++;
        if (op->handlers.entry)
                op->handlers.entry(op, &m->entry, TAKE_FD(*fd), op->userdata);
        return 0;
}

static int fileop_on_end(FileOp *op, const FileMessage *m, int *fd) {
        const uint8_t entries = rules[op->operation].entries;

        if (op->stands || (entries != ANY_NUMBER && op->n_entries != entries))
                return -EBADMSG;
        if (!rules[op->operation].events) {
                fileop_finish(op, 0, "", m->count);
                return 0;
        }
        op->stands = true;
        if (op->handlers.end)
                op->handlers.end(op, 0, "", m->count, op->userdata);
        return 0;
}

static int fileop_on_failed(FileOp *op, const FileMessage *m, int *fd) {
        fileop_finish(op, -m->failure.error, m->failure.path, 0);
        return 0;
}

static int fileop_on_event(FileOp *op, const FileMessage *m, int *fd) {
        const FileEvent *e = &m->event;

        if (!op->stands || !is_relative(e->path) || !is_relative(e->target))
                return -EBADMSG;
        if (op->handlers.event)
                op->handlers.event(op, e, op->userdata);
        return 0;
}

static int (*const by_type[_FILE_TYPE_MAX])(FileOp *op, const FileMessage *m, int *fd) = {
        [FILE_ENTRY] = fileop_on_entry,
        [FILE_END] = fileop_on_end,
        [FILE_FAILED] = fileop_on_failed,
        [FILE_EVENT] = fileop_on_event,
};

/* One message: 1, or 0 when there is none. */
static int fileop_take_message(FileOp *op) {
        uint8_t buffer[FILE_MESSAGE_MAX];
        _cleanup_close_ int fd = -EBADF;
        FileMessage m;
        size_t size, n_fds = 0;
        int r;

        r = channel_receive_bytes(op->channel, MSG_DONTWAIT, buffer, sizeof(buffer), &size, &fd, 1, &n_fds);
        if (r == -EAGAIN)
                return 0;
        if (r == 0)
                return -EPIPE;
        if (r > 0)
                r = file_decode(buffer, size, &m);
        if (r < 0)
                return -EBADMSG;
        if (!by_type[m.type])
                return -EBADMSG;
        r = by_type[m.type](op, &m, &fd);
        return r < 0 ? r : 1;
}

static int fileop_on_channel(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        FileOp *op = userdata;

        op->busy = true;
        for (unsigned i = 0; i < MESSAGES_PER_TURN && !op->paused && op->channel >= 0; i++) {
                int r = fileop_take_message(op);

                if (r == 0)
                        break;
                if (r < 0)
                        fileop_finish(op, r, "", 0);
        }
        op->busy = false;
        if (op->freed)
                free(op);
        return 0;
}

static int fileop_check_state(const Sandbox *sb, Error *reterr) {
        bool unfinished = sb->status == SANDBOX_INITIALIZING && sb->activity == ACTIVITY_CONNECTING; /* its PID 1 is there; nobody but ourselves asks */

        if (!sandbox_can_run(sb) && !unfinished)
                return error_set(reterr, -ESTALE, "Sandbox not running (state: %s)", sandbox_state_text(sb));
        if (!(sb->manager->provider->ops->capabilities & PROVIDER_FILES))
                return error_set(reterr, -EOPNOTSUPP, "provider '%s' has no file operations", sb->manager->provider->ops->name);
        return 0;
}

static int fileop_check_request(const GuestFile *q, Error *reterr) {
        const bool has_target = q->operation == FILE_MOVE || q->operation == FILE_COPY;

        if (q->operation < FILE_STAT || q->operation >= _FILE_OPERATION_MAX)
                return error_set(reterr, -EINVAL, "no such file operation: %u", q->operation);
        if (q->path[0] != '/' || (has_target && q->target[0] != '/'))
                return error_set(reterr, -EINVAL, "'%.200s' is not an absolute path", q->path[0] != '/' ? q->path : q->target);
        return 0;
}

/* Our end does not wait; the worker's may. */
static int fileop_make_pipe(int *ret_read, int *ret_write) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        if (fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        (void) fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES); /* there may be a ceiling on all pipes of a user together */
        return 0;
}

static int fileop_ask(FileOp *op, Sandbox *sb, const GuestFile *request) {
        Provider *p = sb->manager->provider;
        _cleanup_close_ int channel = -EBADF, data = -EBADF;
        GuestMessage m = { .type = GUEST_FILE, .file = *request };
        int pair[2], r;

        r = channel_pair(pair);
        if (r < 0)
                return r;
        op->channel = pair[0];
        channel = pair[1];
        if (fcntl(op->channel, F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        if (op->operation == FILE_WRITE) {
                r = fileop_make_pipe(&data, &op->data_fd);
                if (r < 0)
                        return r;
        }
        r = sd_event_add_io(sb->manager->event, &op->source, op->channel, EPOLLIN, fileop_on_channel, op);
        if (r < 0)
                return r;
        (void) sd_event_source_set_description(op->source, "file-operation");
        return p->ops->send(p, sb, &m, (const int[]) { channel, data }, data >= 0 ? 2 : 1);
}

/* What we ourselves put in while it is made is no caller's. */
static void fileop_record(FileOp *op, Sandbox *sb, const GuestFile *request) {
        op->recorder = recorder_of(sb);
        if (op->recorder && rules[op->operation].changes && sb->status != SANDBOX_INITIALIZING)
                op->recorded = op->recorder->file_begin(sb, request, op->recorder->userdata);
}

int fileop_start(Sandbox *sb, const GuestFile *request, const FileOpHandlers *handlers, void *userdata, FileOp **ret,
                Error *reterr) {
        FileOp *op;
        int r;

        r = fileop_check_state(sb, reterr);
        if (r >= 0)
                r = fileop_check_request(request, reterr);
        if (r < 0)
                return r;
        op = calloc(1, sizeof(*op));
        if (!op)
                return error_set(reterr, -ENOMEM, "out of memory");
        *op = (FileOp) {
                .handlers = *handlers,
                .userdata = userdata,
                .channel = -EBADF,
                .data_fd = -EBADF,
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

int fileop_data_fd(const FileOp *op) {
        return op->data_fd;
}

ssize_t fileop_write(FileOp *op, const void *data, size_t size) {
        ssize_t n;

        do
                n = write(op->data_fd, data, size);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        fileop_tell_data(op, data, (size_t) n);
        return n;
}

int fileop_commit(FileOp *op) {
        FileMessage m = { .type = FILE_COMMIT };
        uint8_t buffer[16];
        ssize_t size;
        int r;

        op->data_fd = fd_close(op->data_fd);
        if (op->channel < 0)
                return -EPIPE;
        size = file_encode(&m, buffer, sizeof(buffer));
        if (size < 0)
                return (int) size;
        r = channel_send_bytes(op->channel, buffer, (size_t) size, NULL, 0, MSG_DONTWAIT);
        return r == -EPIPE || r == -ECONNRESET ? 0 : r; /* why it has gone, its last message tells */
}

int fileop_take_channel(FileOp *op) {
        int flags;

        if (op->channel < 0)
                return -EPIPE;
        flags = fcntl(op->channel, F_GETFL);
        if (flags < 0 || fcntl(op->channel, F_SETFL, flags & ~O_NONBLOCK) < 0)
                return -errno;
        op->source = sd_event_source_disable_unref(op->source);
        return TAKE_FD(op->channel);
}

int fileop_pause(FileOp *op, bool pause) {
        op->paused = pause;
        if (!op->source)
                return 0;
        return sd_event_source_set_enabled(op->source, pause ? SD_EVENT_OFF : SD_EVENT_ON);
}
