#include "client/files/upload.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"

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
        Request q = REQUEST_INIT;
        int r;

        if (u->error < 0) {
                log_error("out of memory");
                return u->error;
        }
        q.method = method;
        q.path = u->text;
        q.type = type;
        q.accept = ret ? "application/json" : NULL;
        q.source = upload_read;
        q.source_data = s;
        q.source_size = size;
        q.source_fd = s->wait_fd;
        q.sink = ret ? answer_collect : NULL;
        q.sink_data = ret;
        progress_begin(s->progress, s->name, size == CALL_SIZE_UNKNOWN ? PROGRESS_UNKNOWN : size);
        if (!s->pack && isatty(s->fd)) /* what is typed there stands in the way */
                s->progress->enabled = false;
        r = client_transfer(place, &q, &s->error, /* ret_head= */ NULL);
        progress_end(s->progress);
        if (r >= 0 && ret)
                ret->json = json_parse(ret->text ? ret->text : "", ret->size, /* reterr= */ NULL);
        return r;
}
