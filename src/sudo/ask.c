#include "sudo/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/channel.h"

int ask_connect(Error *reterr) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        struct ucred peer;
        socklen_t size = sizeof(peer);

        if (fd < 0)
                return error_set(reterr, -errno, "no socket: %m");
        memcpy(address.sun_path + 1, SUDO_ADDRESS, sizeof(SUDO_ADDRESS) - 1);
        if (connect(fd, (struct sockaddr *) &address, offsetof(struct sockaddr_un, sun_path) + sizeof(SUDO_ADDRESS)) < 0)
                return error_set(reterr, -errno, errno == ECONNREFUSED ? "sudo is disabled in this sandbox: create it with --sudo" : "%m");
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid != 1)
                return error_set(reterr, -EPERM, "the process that answers is not PID 1");
        return TAKE_FD(fd);
}

static size_t list_size(const Strv *v) {
        size_t n = 0;

        for (size_t i = 0; i < v->n; i++)
                n += strlen(v->items[i]) + 1;
        return n;
}

static uint8_t *sudo_ask_put_text(uint8_t *p, const char *text) {
        size_t n = strlen(text) + 1;

        memcpy(p, text, n);
        return p + n;
}

static uint8_t *make_strings(const Asking *a, size_t *ret_size) {
        size_t size = strlen(a->directory) + 1 + list_size(a->command) + list_size(a->environment);
        uint8_t *data = malloc(size), *p;

        if (!data)
                return NULL;
        p = sudo_ask_put_text(data, a->directory);
        for (size_t i = 0; i < a->command->n; i++)
                p = sudo_ask_put_text(p, a->command->items[i]);
        for (size_t i = 0; i < a->environment->n; i++)
                p = sudo_ask_put_text(p, a->environment->items[i]);
        *ret_size = size;
        return data;
}

static int sudo_ask_make_blob(const uint8_t *data, size_t size) {
        _cleanup_close_ int fd = memfd_create("sudo", MFD_CLOEXEC);
        int r = fd < 0 ? -errno : fd_write_all(fd, data, size);

        return r < 0 ? r : TAKE_FD(fd);
}

int ask_send(int fd, const Asking *a, Error *reterr) {
        static uint8_t buffer[SUDO_MESSAGE_MAX];
        _cleanup_close_ int blob = -EBADF;
        _cleanup_free_ uint8_t *strings = NULL;
        SudoMessage m = { .type = SUDO_RUN };
        int fds[SUDO_FDS_MAX] = { a->fds[0], a->fds[1], a->fds[2] }, r;
        size_t n = 3;
        ssize_t size;

        m.run = (SudoRun) { .uid = a->uid, .gid = a->gid, .n_args = (uint32_t) a->command->n, .n_env = (uint32_t) a->environment->n };
        strings = make_strings(a, &m.run.strings_size);
        if (!strings)
                return error_set(reterr, -ENOMEM, "out of memory");
        m.run.strings = strings;
        if (a->stays)
                m.run.flags |= SUDO_STAY;
        if (a->terminal_fd >= 0) {
                m.run.flags |= SUDO_TERMINAL;
                fds[n++] = a->terminal_fd;
        }
        if (m.run.strings_size > SUDO_INLINE_MAX) {
                blob = sudo_ask_make_blob(strings, m.run.strings_size);
                if (blob < 0)
                        return error_set(reterr, blob, "no memory for the arguments: %m");
                m.run.flags |= SUDO_BLOB;
                m.run.strings = NULL;
                m.run.strings_size = 0;
                fds[n++] = blob;
        }
        size = sudo_encode(&m, buffer, sizeof(buffer));
        r = size < 0 ? (int) size : channel_send_bytes(fd, buffer, (size_t) size, fds, n, 0);
        return r < 0 ? error_set(reterr, r, "cannot ask PID 1: %m") : 0;
}
