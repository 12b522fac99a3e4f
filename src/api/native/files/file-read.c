/* file-read.c: downloads a file. The worker inside opens it; the kernel sends it. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "api/file.h"
#include "api/native/files/files.h"
#include "base/fd.h"

#define FILE_TYPE "application/octet-stream"

typedef struct FileReader {
        ApiRequest *q;
        FileOp *op;
        int fd;
        FileEntry entry;
        char path[FILE_PATH_BYTES];
} FileReader;

static void reader_destroy(ApiRequest *q, bool answered) {
        FileReader *f = q->state;

        fileop_free(f->op);
        (void) fd_close(f->fd);
}

static void file_read_add_headers(ApiRequest *q, const FileEntry *e) {
        char date[API_DATE_SIZE];

        (void) http_format_header(q->http, "X-File-Mode", "%04o", (unsigned) e->mode & 07777);
        (void) http_format_header(q->http, "X-File-Owner", "%" PRIu32 ":%" PRIu32, e->uid, e->gid);
        api_file_date(e->mtime_nsec, date);
        if (date[0] != '\0')
                (void) http_add_header(q->http, "Last-Modified", date);
}

static void file_read_answer_whole(FileReader *f) {
        if (api_answer_file(f->q, FILE_TYPE, http_header(f->q->http, "Range"), &f->fd, f->entry.size) == -ERANGE)
                (void) api_error(f->q, 416, "beyond_end", NULL, "%s: has %" PRIu64 " bytes", f->path, f->entry.size);
}

/* Files of /proc and /sys have size 0, but content. */

static ssize_t reader_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        FileReader *f = userdata;
        ssize_t n;

        do
                n = pread(f->fd, buffer, size, (off_t) position);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        return n == 0 ? HTTP_STREAM_END : n;
}

static void answer_sizeless(FileReader *f) {
        char probe;
        ssize_t n = pread(f->fd, &probe, 1, 0);

        if (n < 0) {
                (void) file_answer_error(f->q, -errno, f->path);
                return;
        }
        if (n == 0) {
                file_read_answer_whole(f);
                return;
        }
        f->q->answered = true;
        (void) http_answer_stream(f->q->http, 200, FILE_TYPE, UINT64_MAX, reader_next, f);
}

static void file_read_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FileReader *f = userdata;

        f->fd = fd;
        f->entry = *entry;
}

static void file_read_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FileReader *f = userdata;

        if (error < 0)
                (void) file_answer_error(f->q, error, path && path[0] ? path : f->path);
        else if (f->fd < 0)
                (void) api_errno(f->q, -EPROTO, "the sandbox did not send the file");
        else {
                file_read_add_headers(f->q, &f->entry);
                if (f->entry.size > 0)
                        file_read_answer_whole(f);
                else
                        answer_sizeless(f);
        }
}

void native_file_read(ApiRequest *q) {
        static const FileOpHandlers handlers = { .entry = file_read_on_entry, .end = file_read_on_end };
        Error error = { 0 };
        FileReader *f;
        FileRequest g;
        int r;

        if (file_request_query(q, FILE_READ, &g) < 0)
                return;
        f = api_keep_state(q, sizeof(*f), reader_destroy);
        if (!f)
                return;
        f->q = q;
        f->fd = -EBADF;
        memcpy(f->path, g.path, sizeof(f->path));
        r = fileop_start(q->sandbox, &g, &handlers, f, &f->op, &error);
        if (r < 0)
                (void) native_core_error(q, r, error.text);
}
