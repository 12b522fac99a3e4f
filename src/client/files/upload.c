#include "client/files/upload.h"

#include <errno.h>
#include <unistd.h>

static ssize_t upload_read(void *userdata, void *buffer, size_t size) {
        ClientUpload *s = userdata;
        ssize_t n;

        if (s->pack) {
                n = pack_read(s->pack, buffer, size);
                if (n < 0)
                        s->error = *pack_error(s->pack);
        } else {
                do
                        n = read(s->fd, buffer, size);
                while (n < 0 && errno == EINTR);
                if (n < 0)
                        n = error_set(&s->error, -errno, "cannot read '%s': %m", s->name);
        }
        if (n > 0)
                progress_add(s->progress, (uint64_t) n);
        return n;
}

int upload_send(ClientUpload *s, const Place *place, const char *method, const Url *u, const char *type, uint64_t size, Answer *ret) {
        const Request q = {
                .method = method,
                .path = url_text(u),
                .type = type,
                .accept = ret ? "application/json" : NULL,
                .source = upload_read,
                .source_data = s,
                .source_size = size,
                .source_fd = s->wait_fd,
        };
        int r;

        progress_begin(s->progress, s->name, size == CALL_SIZE_UNKNOWN ? PROGRESS_UNKNOWN : size);
        if (!s->pack && isatty(s->fd)) /* the progress would mix with what is typed there */
                s->progress->enabled = false;
        r = client_transfer(place, &q, &s->error, ret);
        progress_end(s->progress);
        return r;
}
