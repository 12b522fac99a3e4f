/* native-file.c: file operations, by a worker inside the sandbox that PID 1 forks for each; wire/file.h is
 * spoken over a channel of their own. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "provider/native-internal.h"
#include "wire/channel.h"
#include "wire/file.h"

#define MESSAGES_PER_TURN 64 /* then others of the loop have their turn */

/* The daemon's end of a worker. */
typedef struct NativeFile {
        FileOp *op; /* NULL: the operation has ended */
        sd_event_source *source;
        int channel;
        bool paused;
        bool busy; /* one of its messages is being handled: the memory must stay */
} NativeFile;

static void native_file_free(NativeFile *f) {
        f->source = sd_event_source_disable_unref(f->source);
        f->channel = fd_close(f->channel);
        f->op = NULL;
        if (!f->busy)
                free(f);
}

static void native_file_on_entry(NativeFile *f, FileMessage *m, int *fd) {
        fileop_on_entry(f->op, &m->entry, TAKE_FD(*fd));
}

static void native_file_on_end(NativeFile *f, FileMessage *m, int *fd) {
        fileop_on_end(f->op, m->count);
}

static void native_file_on_failed(NativeFile *f, FileMessage *m, int *fd) {
        fileop_on_failed(f->op, -m->failure.error, m->failure.path);
}

static void native_file_on_event(NativeFile *f, FileMessage *m, int *fd) {
        fileop_on_event(f->op, &m->event);
}

static void (*const native_file_by_type[_FILE_TYPE_MAX])(NativeFile *f, FileMessage *m, int *fd) = {
        [FILE_ENTRY] = native_file_on_entry,
        [FILE_END] = native_file_on_end,
        [FILE_FAILED] = native_file_on_failed,
        [FILE_EVENT] = native_file_on_event,
};

/* Takes one message. Returns 1, or 0 if there is none. */
static int native_file_take(NativeFile *f) {
        uint8_t buffer[FILE_MESSAGE_MAX];
        _cleanup_close_ int fd = -EBADF;
        FileMessage m;
        size_t size, n_fds = 0;
        int r;

        r = channel_receive_bytes(f->channel, MSG_DONTWAIT, buffer, sizeof(buffer), &size, &fd, 1, &n_fds);
        if (r == -EAGAIN)
                return 0;
        if (r == 0)
                return -EPIPE;
        if (r == CHANNEL_SHORT || (r < 0 && r != -EBADMSG))
                return r < 0 ? r : -EMFILE;
        if (r < 0 || file_decode(buffer, size, &m) < 0 || !native_file_by_type[m.type])
                return -EBADMSG;
        native_file_by_type[m.type](f, &m, &fd);
        return 1;
}

static int native_file_on_channel(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        NativeFile *f = userdata;

        f->busy = true;
        for (unsigned i = 0; i < MESSAGES_PER_TURN && !f->paused && f->op; i++) {
                int r = native_file_take(f);

                if (r == 0)
                        break;
                if (r < 0)
                        fileop_on_failed(f->op, r, "");
        }
        f->busy = false;
        if (!f->op)
                native_file_free(f);
        return 0;
}

static int native_file_ask(NativeFile *f, Native *n, Sandbox *sb, const FileRequest *request, int data_fd) {
        const GuestMessage m = { .type = GUEST_FILE, .file = *request };
        _cleanup_close_ int theirs = -EBADF;
        int pair[2], r;

        r = channel_pair(pair);
        if (r < 0)
                return r;
        f->channel = pair[0];
        theirs = pair[1];
        if (fcntl(f->channel, F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        r = sd_event_add_io(n->event, &f->source, f->channel, EPOLLIN, native_file_on_channel, f);
        if (r < 0)
                return r;
        (void) sd_event_source_set_description(f->source, "file-operation");
        return native_guest_send(&n->provider, sb, &m, (const int[]) { theirs, data_fd }, data_fd >= 0 ? 2 : 1);
}

int native_file_start(Provider *p, Sandbox *sb, const FileRequest *request, int data_fd, FileOp *op) {
        NativeFile *f = calloc(1, sizeof(*f));
        int r;

        if (!f)
                return -ENOMEM;
        *f = (NativeFile) { .op = op, .channel = -EBADF };
        r = native_file_ask(f, (Native *) p, sb, request, data_fd);
        if (r < 0)
                native_file_free(f);
        else
                fileop_set_provider_data(op, f);
        return r;
}

int native_file_commit(Provider *p, FileOp *op) {
        NativeFile *f = fileop_provider_data(op);
        FileMessage m = { .type = FILE_COMMIT };
        uint8_t buffer[16];
        ssize_t size;
        int r;

        if (f->channel < 0)
                return -EPIPE;
        size = file_encode(&m, buffer, sizeof(buffer));
        if (size < 0)
                return (int) size;
        r = channel_send_bytes(f->channel, buffer, (size_t) size, NULL, 0, MSG_DONTWAIT);
        return r == -EPIPE || r == -ECONNRESET ? 0 : r; /* its last message tells why it ended */
}

int native_file_pause(Provider *p, FileOp *op, bool pause) {
        NativeFile *f = fileop_provider_data(op);

        f->paused = pause;
        return f->source ? sd_event_source_set_enabled(f->source, pause ? SD_EVENT_OFF : SD_EVENT_ON) : 0;
}

void native_file_end(Provider *p, FileOp *op) {
        native_file_free(fileop_provider_data(op));
}

static int native_file_take_channel(Provider *p, FileOp *op) {
        NativeFile *f = fileop_provider_data(op);
        int flags;

        if (f->channel < 0)
                return -EPIPE;
        flags = fcntl(f->channel, F_GETFL);
        if (flags < 0 || fcntl(f->channel, F_SETFL, flags & ~O_NONBLOCK) < 0)
                return -errno;
        f->source = sd_event_source_disable_unref(f->source);
        return TAKE_FD(f->channel);
}

const ProviderArchives native_archives = { .take_channel = native_file_take_channel };
