/* archive.c: a directory as a tar stream, and the other way round.
 *
 *      GET     worker inside ── channel ── cove-archive pack ── pipe ── answer
 *      PUT     body ── pipe ── cove-archive unpack ── channel ── worker inside
 *
 * The archive program is started for one request, and killed when its client goes away. Its last line on stderr is an errno
 * and a sentence. The answer to a GET begins with its first bytes, so that what is wrong from the start has a status of its
 * own. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/native/files/files.h"
#include "base/fd.h"
#include "base/parse.h"
#include "base/program.h"

#define PROGRAM      "cove-archive"
#define PIPE_SIZE    (1 << 20)
#define FIRST_SIZE   65536
#define LAST_LINE_MAX 1024

typedef struct NativeArchive {
        ApiRequest *q;
        FileOp *op;
        bool unpacks;
        const char *type; /* of what is packed */
        int in, out, err; /* our ends of its pipes; -EBADF: none, or closed */
        sd_event_source *child;
        sd_event_source *ready; /* in can be written, out can be read */
        bool exited;
        int status; /* its exit status; -1: killed */

        /* pack: what came before there was an answer to put it into */
        char *first;
        size_t first_size, first_sent;
} NativeArchive;

static void archive_destroy(ApiRequest *q, bool answered) {
        NativeArchive *a = q->state;

        sd_event_source_disable_unref(a->ready);
        sd_event_source_disable_unref(a->child); /* kills and reaps it */
        fileop_free(a->op);
        (void) fd_close(a->in);
        (void) fd_close(a->out);
        (void) fd_close(a->err);
        free(a->first);
        free(a);
        q->state = NULL;
}

/* What went wrong, in its own words. */
static void archive_answer_failure(NativeArchive *a) {
        char line[LAST_LINE_MAX];
        ssize_t n = a->err >= 0 ? read(a->err, line, sizeof(line) - 1) : -1;
        const FileErrorCode *code;
        char *space;
        uint64_t number;

        line[MAX_OF(n, (ssize_t) 0)] = '\0';
        line[strcspn(line, "\n")] = '\0';
        space = strchr(line, ' ');
        if (space)
                *space++ = '\0';
        if (!space || parse_uint64(line, 1, 4095, &number) < 0) {
                (void) api_error(a->q, 500, "internal", NULL, "the archive program has ended with status %d", a->status);
                return;
        }
        if (number == EBADMSG || number == EXDEV || number == EILSEQ) {
                (void) api_error(a->q, 400, "bad_archive", NULL, "%s", space);
                return;
        }
        code = file_error_code((int) number);
        (void) api_error(a->q, code->status, code->code, NULL, "%s", space);
}

static int wait_ready(NativeArchive *a) {
        return sd_event_source_set_enabled(a->ready, SD_EVENT_ONESHOT);
}

/* Pack. */

static ssize_t archive_take_first(NativeArchive *a, void *buffer, size_t size) {
        size_t n = MIN_OF(size, a->first_size - a->first_sent);

        memcpy(buffer, a->first + a->first_sent, n);
        a->first_sent += n;
        return (ssize_t) n;
}

static ssize_t pack_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        NativeArchive *a = userdata;
        ssize_t n;

        if (a->first_sent < a->first_size)
                return archive_take_first(a, buffer, size);
        do
                n = a->out >= 0 ? read(a->out, buffer, size) : 0;
        while (n < 0 && errno == EINTR);
        if (n > 0)
                return n;
        if (n < 0)
                return errno == EAGAIN ? wait_ready(a) : -errno;
        a->ready = sd_event_source_disable_unref(a->ready);
        a->out = fd_close(a->out); /* whether that was the end, its exit status tells */
        if (!a->exited)
                return 0;
        return a->status == 0 ? HTTP_STREAM_END : -EIO;
}

static void pack_answer(NativeArchive *a) {
        a->q->answered = true;
        (void) http_answer_stream(a->q->http, 200, a->type, UINT64_MAX, pack_next, a);
}

/* Before the answer: the first bytes decide. */
static void pack_begin(NativeArchive *a) {
        ssize_t n;

        a->first = malloc(FIRST_SIZE);
        if (!a->first) {
                (void) api_errno(a->q, -ENOMEM, NULL);
                return;
        }
        n = read(a->out, a->first, FIRST_SIZE);
        if (n <= 0) {
                free(TAKE_PTR(a->first));
                if (n < 0 && errno == EAGAIN)
                        (void) wait_ready(a);
                return; /* else it ends, and that is heard next */
        }
        a->first_size = (size_t) n;
        pack_answer(a);
}

/* Unpack. */

static void unpack_answer(NativeArchive *a) {
        char line[32];
        ssize_t n = read(a->out, line, sizeof(line) - 1);
        uint64_t entries;

        line[MAX_OF(n, (ssize_t) 0)] = '\0';
        line[strcspn(line, "\n")] = '\0';
        if (parse_uint64(line, 0, INT64_MAX, &entries) < 0)
                (void) api_errno(a->q, -EPROTO, "the archive program has not told what it did");
        else
                (void) api_answer(a->q, 200, json_pack("{s:I}", "entries", (json_int_t) entries));
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
                return (ssize_t) size; /* what it does not read, nobody wants */
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

        if (!a->unpacks && !a->q->answered)
                pack_begin(a);
        else
                http_request_continue(a->q->http);
        return 0;
}

static int archive_on_exited(sd_event_source *source, const siginfo_t *si, void *userdata) {
        NativeArchive *a = userdata;

        a->exited = true;
        a->status = si->si_code == CLD_EXITED ? si->si_status : -1;
        fileop_tell_end(a->op, /* done= */ a->status == 0);
        if (!a->unpacks && !a->q->answered && a->status == 0)
                pack_begin(a); /* all of it may be in the pipe still */
        if (a->q->answered)
                http_request_continue(a->q->http);
        else if (a->status != 0)
                archive_answer_failure(a);
        else if (a->unpacks)
                unpack_answer(a);
        else
                pack_answer(a);
        return 0;
}

static int archive_make_pipe(int *ret_ours, int *ret_theirs, bool we_write) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_ours = fds[we_write];
        *ret_theirs = fds[!we_write];
        if (fcntl(*ret_ours, F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        (void) fcntl(*ret_ours, F_SETPIPE_SZ, PIPE_SIZE); /* there may be a ceiling on all pipes of a user together */
        return 0;
}

static int start_program(NativeArchive *a, const char *const *argv) {
        _cleanup_close_ int channel = -EBADF, in = -EBADF, out = -EBADF, err = -EBADF;
        _cleanup_free_ char *path = NULL;
        pid_t pid;
        int r;

        r = program_path(PROGRAM, &path);
        if (r < 0)
                return r;
        channel = fileop_take_channel(a->op);
        if (channel < 0)
                return channel;
        if (a->unpacks)
                r = archive_make_pipe(&a->in, &in, /* we_write= */ true);
        else
                in = r = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (r >= 0)
                r = archive_make_pipe(&a->out, &out, /* we_write= */ false);
        if (r >= 0)
                r = archive_make_pipe(&a->err, &err, /* we_write= */ false);
        if (r >= 0)
                r = program_start(path, argv, /* environment= */ NULL, (const int[]) { in, out, err, channel }, 4, &pid);
        if (r < 0)
                return r;
        r = sd_event_add_child(a->q->manager->event, &a->child, pid, WEXITED, archive_on_exited, a);
        if (r < 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
                return r;
        }
        (void) sd_event_source_set_child_process_own(a->child, true);
        r = sd_event_add_io(a->q->manager->event, &a->ready, a->unpacks ? a->in : a->out, a->unpacks ? EPOLLOUT : EPOLLIN,
                        archive_on_ready, a);
        if (r < 0)
                return r;
        return sd_event_source_set_enabled(a->ready, a->unpacks ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static void archive_start(ApiRequest *q, FileOperation operation, const char *type, const char *const *argv) {
        static const FileOpHandlers handlers = { 0 }; /* the program hears it all */
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
                .err = -EBADF,
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
