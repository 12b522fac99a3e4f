/* ops.c: single operations on the files of a build's sandbox, and helpers. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "build/internal.h"

#define FULL "the disk of the build is full (build.disk of cove.yaml)"
#define ARGUMENTS_MAX 16

static void op_over(Build *b) {
        b->op = fileop_free(b->op);
        b->read_fd = fd_close(b->read_fd);
}

void build_abandon(Build *b) {
        op_over(b);
        b->survey_fd = fd_close(b->survey_fd);
        if (b->acquisition)
                acquisition_cancel(b->acquisition);
        b->acquisition = NULL;
        for (size_t i = 0; i < ELEMENTSOF(b->helpers); i++) {
                b->helpers[i] = helper_free(b->helpers[i]);
                b->channels[i] = fileop_free(b->channels[i]);
        }
        b->n_helpers = 0;
        b->broken = (Error) { 0 };
        tree_call_forget(b->in_step.work.call);
        b->in_step.work.call = NULL;
        feed_close(&b->feed);
        b->settle = sd_event_source_disable_unref(b->settle);
        free(TAKE_PTR(b->data));
        b->reading = NULL;
        b->again = false;
        b->copy = build_copy_free(b->copy);
}

static void request_init(FileRequest *g, FileOperation operation, const char *path) {
        *g = (FileRequest) { .operation = (uint16_t) operation, .mode = FILE_MODE_NONE, .owner = FILE_ID_NONE, .group = FILE_ID_NONE };
        (void) snprintf(g->path, sizeof(g->path), "%s", path);
}

static void ops_on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Build *b = userdata;

        b->entry = *entry;
        b->found = true;
        if (fd >= 0) {
                (void) fd_close(b->read_fd);
                b->read_fd = fd; /* for ops_read() */
        }
}

static bool is_full(int error) {
        return error == -EDQUOT || error == -ENOSPC;
}

/* The error as it is reported; NULL on success. */
static const Error *ops_explain(int error, const char *path, Error *ret) {
        if (error >= 0)
                return NULL;
        (void) error_set(ret, error, "%s: %s", path && *path ? path : "a file operation", error == -EPIPE ? "the sandbox has gone away" :
                        is_full(error) ? FULL : strerror(-error));
        return ret;
}

static void ops_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Build *b = userdata;
        Error why = { 0 };
        const Error *told = ops_explain(error, path, &why);

        op_over(b);
        build_heard(b, told);
}

static char *ops_content(int fd) {
        struct stat st;
        char *data;

        if (fd < 0 || fstat(fd, &st) < 0 || (size_t) st.st_size > PASSWD_FILE_MAX)
                return NULL;
        data = malloc((size_t) st.st_size + 1);
        if (data)
                data[MAX_OF(pread(fd, data, (size_t) st.st_size, 0), (ssize_t) 0)] = '\0';
        return data;
}

/* For a lookup, "not found" is a result as well. */
static void on_end_looking(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Build *b = userdata;
        _cleanup_close_ int fd = TAKE_FD(b->read_fd);

        if (b->reading) {
                free(*b->reading);
                *TAKE_PTR(b->reading) = ops_content(fd);
        }
        if (error == -ENOENT || error == -ENOTDIR || error == -EISDIR || error == -ELOOP) {
                b->found = false;
                error = 0;
        }
        ops_on_end(op, error, path, count, b);
}

static void on_name(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Build *b = userdata;

        (void) fd_close(fd);
        (void) strv_push(&b->names, entry->path);
}

static int ops_start(Build *b, size_t stage, const FileRequest *g, Error *reterr) {
        static const FileOpHandlers plain = { .entry = ops_on_entry, .end = ops_on_end }, looks = { .entry = ops_on_entry, .end = on_end_looking },
                lists = { .entry = on_name, .end = on_end_looking };
        const bool writes = g->operation == FILE_MKDIR || g->operation == FILE_WRITE;
        Sandbox *sb;
        int r = build_sandbox(b, stage, &sb, reterr);

        b->found = false;
        return r < 0 ? r : making_work_waits(fileop_start(sb, g, writes ? &plain : g->operation == FILE_LIST ? &lists : &looks, b, &b->op, reterr));
}

int ops_stat(Build *b, size_t stage, const char *path, Error *reterr) {
        FileRequest g;

        request_init(&g, FILE_STAT, path);
        return ops_start(b, stage, &g, reterr);
}

int ops_list(Build *b, size_t stage, const char *path, Error *reterr) {
        FileRequest g;

        strv_done(&b->names);
        b->names.max = PLAN_WORDS_MAX;
        request_init(&g, FILE_LIST, path);
        g.depth = 1;
        g.limit = PLAN_WORDS_MAX;
        return ops_start(b, stage, &g, reterr);
}

static void request_init_new(FileRequest *g, FileOperation operation, const char *path, uint32_t mode, const Account *owner) {
        request_init(g, operation, path);
        g->flags = FILE_PARENTS;
        g->mode = mode;
        if (owner) {
                g->owner = owner->uid;
                g->group = owner->gid;
        }
}

int ops_mkdir(Build *b, size_t stage, const char *path, const Account *owner, Error *reterr) {
        FileRequest g;

        request_init_new(&g, FILE_MKDIR, path, 0755, owner);
        return ops_start(b, stage, &g, reterr);
}

/* Reads a regular file. The worker sends a descriptor; the content is in the page cache, because the file
 * was just examined. */
int ops_read(Build *b, size_t stage, const char *path, char **ret, Error *reterr) {
        FileRequest g;

        request_init(&g, FILE_READ, path);
        b->reading = ret;
        return ops_start(b, stage, &g, reterr);
}

int ops_write(Build *b, size_t stage, const char *path, uint32_t mode, const Account *owner, char *data, Error *reterr) {
        FileRequest g;
        int r;

        free(b->data);
        b->data = data;
        request_init_new(&g, FILE_WRITE, path, mode, owner);
        r = ops_start(b, stage, &g, reterr);
        if (r < 0)
                return r;
        r = fileop_write_all(b->op, data, strlen(data));
        return r < 0 && r != -EPIPE ? error_set(reterr, r, "%s: cannot be written", path) : STEP_WAITS; /* EPIPE: the operation's end says why */
}

/* Helpers. */

static void on_helper(Build *b, size_t i, const Error *error) {
        Error why = { 0 };

        b->helpers[i] = NULL;
        b->channels[i] = fileop_free(b->channels[i]);
        b->n_helpers--;
        if (error && error->code == -EPIPE && b->n_helpers > 0) { /* the other helper knows why it stopped reading */
                b->broken = *error;
                return;
        }
        if (!error && b->broken.code < 0)
                error = &b->broken;
        if (error)
                why = *error;
        if (is_full(why.code))
                (void) error_prefix(&why, why.code, FULL);
        b->broken = (Error) { 0 };
        error = error ? &why : NULL;
        if (error || b->n_helpers == 0)
                build_heard(b, error);
}

static void on_first(const Error *error, void *userdata) {
        on_helper(userdata, 0, error);
}

static void ops_on_second(const Error *error, void *userdata) {
        on_helper(userdata, 1, error);
}

static int ops_start_program(Build *b, const HelperRequest *q, int channel, Error *reterr) {
        static const HelperEnded ends[] = { on_first, ops_on_second };
        const char *argv[ARGUMENTS_MAX] = { "cove-archive" };
        const int fds[] = { q->in, q->out, -EBADF, channel, q->list };
        int r;

        for (size_t i = 0; q->arguments[i] && i + 2 < ELEMENTSOF(argv); i++)
                argv[i + 1] = q->arguments[i];
        r = helper_start(b->manager->event, &(ProgramStart) { .argv = argv, .fds = fds, .n_fds = ELEMENTSOF(fds) }, b->manager->config.helper_timeout_usec,
                        ends[b->n_helpers], b, b->helpers + b->n_helpers);
        return r < 0 ? error_set(reterr, r, "cannot start the archive program: %m") : 0;
}

int helper_run(Build *b, const HelperRequest *q, Error *reterr) {
        static const FileOpHandlers none = { 0 }; /* the helper program reads the worker's messages */
        const size_t i = b->n_helpers;
        _cleanup_close_ int channel = -EBADF;
        FileRequest g;
        Sandbox *sb;
        int r = q->works ? build_sandbox(b, q->stage, &sb, reterr) : 0;

        if (r >= 0 && q->works) {
                request_init(&g, q->operation, q->path);
                r = fileop_start(sb, &g, &none, b, &b->channels[i], reterr);
                if (r >= 0)
                        channel = r = fileop_take_channel(b->channels[i]);
        }
        if (r >= 0 && q->in >= 0)
                (void) lseek(q->in, 0, SEEK_SET); /* no effect on a pipe */
        if (r >= 0)
                r = ops_start_program(b, q, channel, reterr);
        if (r >= 0)
                b->n_helpers++;
        return making_work_waits(r);
}

int helper_run_pair(Build *b, HelperRequest *from, HelperRequest *to, Error *reterr) {
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        int pipes[2], r;

        if (pipe2(pipes, O_CLOEXEC) < 0)
                return error_set(reterr, -errno, "no pipe: %m");
        to->in = in = pipes[0];
        from->out = out = pipes[1];
        r = helper_run(b, from, reterr);
        return r < 0 ? r : helper_run(b, to, reterr);
}
