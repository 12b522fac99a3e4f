/* archive.c: downloads a directory as a tar stream, and unpacks an uploaded one.
 *
 *      GET     worker inside ── channel ── cove-archive pack ── pipe ── answer
 *      PUT     body ── pipe ── cove-archive unpack ── channel ── worker inside
 *
 * The archive program is started for one request, and killed if the client leaves. Its last line on stderr is
 * an errno and a sentence. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "api/native/files/files.h"
#include "api/pipe.h"
#include "base/fd.h"
#include "base/parse.h"
#include "core/helper.h"

#define PROGRAM "cove-archive"

typedef struct NativeArchive {
        ApiRequest *q;
        FileOp *op;
        bool unpacks;
        const char *type; /* media type of the packed archive */
        int in, out; /* our ends of the program's pipes; -EBADF: none, or closed */
        Helper *helper;
        sd_event_source *ready; /* `in` is writable */
        ApiPipe packed;
} NativeArchive;

static void archive_destroy(ApiRequest *q, bool answered) {
        NativeArchive *a = q->state;

        sd_event_source_disable_unref(a->ready);
        (void) helper_free(a->helper);
        fileop_free(a->op);
        (void) fd_close(a->in);
        (void) fd_close(a->out);
        api_pipe_done(&a->packed);
        free(a);
        q->state = NULL;
}

/* Reports the error in the program's own words. */
static void archive_answer_failure(NativeArchive *a, const Error *error) {
        const FileErrorCode *code = file_error_code(-error->code);

        if (error->code == -EBADMSG || error->code == -EXDEV || error->code == -EILSEQ)
                (void) api_error(a->q, 400, "bad_archive", NULL, "%s", error->text);
        else
                (void) api_error(a->q, code->status, code->code, NULL, "%s", error->text);
}

static int wait_ready(NativeArchive *a) {
        return sd_event_source_set_enabled(a->ready, SD_EVENT_ONESHOT);
}

/* Unpack. */

static void unpack_answer(NativeArchive *a) {
        char line[32];
        ssize_t n = read(a->out, line, sizeof(line) - 1);
        uint64_t entries;

        line[MAX_OF(n, (ssize_t) 0)] = '\0';
        line[strcspn(line, "\n")] = '\0';
        if (parse_uint64(line, 0, INT64_MAX, &entries) < 0)
                (void) api_errno(a->q, -EPROTO, "the archive program gave no result");
        else
                (void) api_show(a->q, 200, &(const uint64_t) { entries });
}

static void stop_input(NativeArchive *a) {
        a->ready = sd_event_source_disable_unref(a->ready);
        a->in = fd_close(a->in);
}

ssize_t native_archive_put_data(ApiRequest *q, const void *data, size_t size) {
        NativeArchive *a = q->state;
        ssize_t n;

        if (q->answered || !a)
                return -ECANCELED;
        if (size == 0 || a->in < 0) {
                stop_input(a);
                return (ssize_t) size; /* drops what the program does not read */
        }
        do
                n = write(a->in, data, size);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EPIPE) {
                stop_input(a);
                return (ssize_t) size;
        }
        if (n < 0 && errno != EAGAIN) {
                n = -errno;
                (void) api_errno(q, (int) n, "cannot pass the archive on");
                return n;
        }
        if (n > 0)
                fileop_tell_data(a->op, data, (size_t) n);
        if (n < 0 || (size_t) n < size)
                (void) wait_ready(a);
        return MAX_OF(n, (ssize_t) 0);
}

/* Both. */

static int archive_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        NativeArchive *a = userdata;

        http_request_continue(a->q->http);
        return 0;
}

static void archive_on_ended(const Error *error, void *userdata) {
        NativeArchive *a = userdata;

        a->helper = NULL;
        fileop_tell_end(a->op, /* done= */ !error);
        if (!a->unpacks) {
                if (!api_pipe_ended(&a->packed, error ? -EIO : 0))
                        archive_answer_failure(a, error);
        } else if (a->q->answered)
                http_request_continue(a->q->http);
        else if (error)
                archive_answer_failure(a, error);
        else
                unpack_answer(a);
}

static int start_program(NativeArchive *a, const char *const *argv) {
        _cleanup_close_ int channel = fileop_take_channel(a->op), in = -EBADF, out = -EBADF;
        int r = channel < 0 ? channel : 0;

        if (r >= 0 && a->unpacks)
                r = api_pipe_make(/* we_write= */ true, &a->in, &in);
        if (r >= 0)
                r = a->unpacks ? api_pipe_make(/* we_write= */ false, &a->out, &out) : api_pipe_open(&a->packed, a->q, a->type, &out);
        if (r >= 0)
                r = helper_start(a->q->manager->event, &(ProgramStart) { .argv = argv, .fds = (const int[]) { in, out, -EBADF, channel }, .n_fds = 4 },
                                a->q->manager->config.helper_timeout_usec, archive_on_ended, a, &a->helper);
        if (r < 0 || !a->unpacks)
                return r;
        r = sd_event_add_io(a->q->manager->event, &a->ready, a->in, EPOLLOUT, archive_on_ready, a);
        return r < 0 ? r : sd_event_source_set_enabled(a->ready, SD_EVENT_OFF);
}

static void archive_start(ApiRequest *q, FileOperation operation, const char *type, const char *const *argv) {
        static const FileOpHandlers handlers = { 0 }; /* the program gets the worker's messages */
        Error error = { 0 };
        FileRequest g;
        NativeArchive *a;
        int r;

        if (file_request_query(q, operation, &g) < 0)
                return;
        a = calloc(1, sizeof(*a));
        if (!a) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        *a = (NativeArchive) {
                .q = q,
                .unpacks = operation == FILE_UNPACK,
                .type = type,
                .in = -EBADF,
                .out = -EBADF,
                .packed = API_PIPE_EMPTY,
        };
        q->state = a;
        q->destroy = archive_destroy;
        r = fileop_start(q->sandbox, &g, &handlers, a, &a->op, &error);
        if (r < 0) {
                (void) native_core_error(q, r, error.text);
                return;
        }
        r = start_program(a, argv);
        if (r < 0)
                (void) native_core_error(q, r, "cannot start the archive program");
}

void native_archive_get(ApiRequest *q) {
        static const struct {
                const char *name, *type;
        } compressions[] = {
                { "none", "application/x-tar" },
                { "gzip", "application/gzip"  },
                { "zstd", "application/zstd"  },
        };
        const char *name = http_query(q->http, "compress");

        for (size_t i = 0; i < ELEMENTSOF(compressions); i++)
                if (!name || strcmp(name, compressions[i].name) == 0) {
                        const char *argv[] = { PROGRAM, "pack", "--compress", compressions[i].name, NULL };

                        archive_start(q, FILE_PACK, compressions[i].type, argv);
                        return;
                }
        (void) native_complain(q, "compress", "must be zstd, gzip or none, not '%.64s'", name);
}

void native_archive_put(ApiRequest *q) {
        const char *argv[] = { PROGRAM, "unpack", NULL };

        archive_start(q, FILE_UNPACK, NULL, argv);
}
