#include "archive/peer.h"

#include <errno.h>

#include "base/fd.h"
#include "wire/channel.h"

static int peer_receive(FileMessage *ret, int *ret_fd, Error *reterr) {
        static uint8_t buffer[FILE_MESSAGE_MAX];
        _cleanup_close_ int fd = -EBADF;
        size_t size, n_fds = 0;
        int r;

        r = channel_receive_bytes(PEER_FD, /* flags= */ 0, buffer, sizeof(buffer), &size, &fd, 1, &n_fds);
        if (r == 0)
                return error_set(reterr, -EPIPE, "the sandbox has gone away");
        if (r > 0)
                r = file_decode(buffer, size, ret);
        if (r < 0)
                return error_set(reterr, -EBADMSG, "the sandbox sent an invalid message");
        if (ret->type == FILE_FAILED)
                return error_set(reterr, -ret->failure.error, "%.400s: %m", ret->failure.path);
        *ret_fd = TAKE_FD(fd);
        return 0;
}

int peer_send(const FileMessage *message, Error *reterr) {
        static uint8_t buffer[FILE_MESSAGE_MAX];
        ssize_t size = file_encode(message, buffer, sizeof(buffer));
        FileMessage m;
        int r, fd;

        if (size < 0)
                return error_set(reterr, (int) size, "cannot send to the sandbox: %m");
        r = channel_send_bytes(PEER_FD, buffer, (size_t) size, NULL, 0, /* flags= */ 0);
        if (r >= 0)
                return 0;
        if (r != -EPIPE && r != -ECONNRESET)
                return error_set(reterr, r, "cannot reach the sandbox: %m");
        /* The worker has closed the channel. Its last message, still to be read, says why. */
        r = peer_receive(&m, &fd, reterr);
        if (r < 0)
                return r;
        (void) fd_close(fd);
        return error_set(reterr, -EBADMSG, "the sandbox ended too early");
}

int peer_next_entry(FileEntry *ret, int *ret_fd, uint64_t *ret_count, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        static FileMessage m;
        int r = peer_receive(&m, &fd, reterr);

        if (r < 0)
                return r;
        if (m.type == FILE_END) {
                *ret_count = m.count;
                return 0;
        }
        if (m.type != FILE_ENTRY)
                return error_set(reterr, -EBADMSG, "the sandbox sent a message out of order");
        *ret = m.entry;
        *ret_fd = TAKE_FD(fd);
        return 1;
}

int peer_await_end(uint64_t *ret_count, Error *reterr) {
        static FileEntry entry;
        int fd, r = peer_next_entry(&entry, &fd, ret_count, reterr);

        if (r <= 0)
                return r;
        (void) fd_close(fd);
        return error_set(reterr, -EBADMSG, "the sandbox sent a message out of order");
}
