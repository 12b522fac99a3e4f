/* file-write.c: uploads a file. The bytes go into a pipe to the worker inside. The file appears, complete,
 * after the body has ended and the worker was told so. If the client leaves earlier, nothing remains. */

#include <errno.h>
#include <string.h>

#include "api/native/files/files.h"

typedef struct FileWriter {
        ApiRequest *q;
        FileOp *op;
        bool committed, has_entry;
        FileEntry entry;
        char path[FILE_PATH_BYTES];
} FileWriter;

static void file_write_writer_destroy(ApiRequest *q, bool answered) {
        FileWriter *w = q->state;

        fileop_free(w->op);
}

static void file_write_on_writable(FileOp *op, void *userdata) {
        FileWriter *w = userdata;

        http_request_continue(w->q->http);
}

static void file_write_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        FileWriter *w = userdata;

        w->has_entry = true;
        w->entry = *entry;
}

/* May come in the middle of the body, if the disk is full. The count is 1 if a file was replaced. */
static void file_write_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        FileWriter *w = userdata;

        if (error < 0)
                (void) file_answer_error(w->q, error, path && path[0] ? path : w->path);
        else if (!w->committed || !w->has_entry)
                (void) api_errno(w->q, -EPROTO, "the sandbox did not report the result");
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
        static const FileOpHandlers handlers = { .entry = file_write_on_entry, .writable = file_write_on_writable, .end = file_write_on_end };
        Error error = { 0 };
        FileWriter *w;
        FileRequest g;
        int r;

        if (file_write_read_query(q, &g) < 0)
                return;
        w = api_keep_state(q, sizeof(*w), file_write_writer_destroy);
        if (!w)
                return;
        w->q = q;
        memcpy(w->path, g.path, sizeof(w->path));
        r = fileop_start(q->sandbox, &g, &handlers, w, &w->op, &error);
        if (r < 0)
                (void) native_core_error(q, r, error.text);
}

ssize_t native_file_write_data(ApiRequest *q, const void *data, size_t size) {
        FileWriter *w = q->state;
        ssize_t n;

        if (q->answered || !w || !w->op)
                return -ECANCELED;
        w->committed |= size == 0;
        n = size == 0 ? fileop_commit(w->op) : fileop_write(w->op, data, size);
        if (n == -EPIPE)
                return 0;
        if (n < 0)
                (void) file_answer_error(w->q, (int) n, w->path);
        return n;
}
