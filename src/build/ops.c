/* ops.c: single operations on the files of a build's sandbox, and helpers; each goes on with what comes next. */

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

#define ARGUMENTS_MAX 16

static void op_over(Build *b) {
        b->op = fileop_free(b->op);
        b->read_fd = fd_close(b->read_fd);
}

void build_abandon(Build *b) {
        op_over(b);
        if (b->acquisition)
                acquisition_cancel(b->acquisition);
        b->acquisition = NULL;
        for (size_t i = 0; i < ELEMENTSOF(b->helpers); i++) {
                b->helpers[i] = helper_free(b->helpers[i]);
                b->channels[i] = fileop_free(b->channels[i]);
        }
        b->n_helpers = 0;
        if (b->call)
                tree_call_forget(b->call);
        b->call = NULL;
        if (b->announced[0])
                images_snapshot_disown(b->images, b->announced); /* nobody knows whether it is there */
        b->announced[0] = '\0';
        if (b->scratch[0]) {
                TreeRef scratch = tree_ref(TREE_SCRATCH, b->scratch);

                (void) trees_remove(b->manager, &scratch, NULL, NULL, NULL, NULL); /* else the spawner's next start does */
                b->scratch[0] = '\0';
        }
        feed_close(&b->feed);
        free(TAKE_PTR(b->data));
        b->copy = build_copy_free(b->copy);
        b->then = NULL;
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

static void fail_op(Build *b, int error, const char *path) {
        build_fail_step(b, error, "%s: %s", path, error == -EPIPE ? "the sandbox has gone away" : error == -EDQUOT || error == -ENOSPC ?
                        "the disk of the build is full (build.disk of cove.yaml)" : strerror(-error));
}

static void ops_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Build *b = userdata;
        char where[256];

        (void) snprintf(where, sizeof(where), "%s", path && *path ? path : "a file operation");
        op_over(b);
        if (error < 0)
                fail_op(b, error, where);
        else
                build_continue(b, b->then);
}

/* Where nothing is there is an answer, too. */
static void take_content(Build *b, int fd) {
        struct stat st;

        free(TAKE_PTR(b->data));
        b->size = 0;
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > ACCOUNT_FILE_MAX)
                return;
        b->data = malloc((size_t) st.st_size + 1);
        if (!b->data)
                return;
        b->size = (size_t) MAX_OF(pread(fd, b->data, (size_t) st.st_size, 0), (ssize_t) 0);
        b->data[b->size] = '\0';
}

static void on_end_looking(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Build *b = userdata;
        _cleanup_close_ int fd = TAKE_FD(b->read_fd);

        op_over(b);
        take_content(b, fd);
        if (error == -ENOENT || error == -ENOTDIR || error == -EISDIR || error == -ELOOP)
                b->found = false;
        else if (error < 0) {
                fail_op(b, error, path && *path ? path : "a file operation");
                return;
        }
        build_continue(b, b->then);
}

static void ops_start(Build *b, Sandbox *sb, const FileRequest *g, bool looking, BuildThen then) {
        static const FileOpHandlers plain = { .entry = ops_on_entry, .end = ops_on_end }, looks = { .entry = ops_on_entry, .end = on_end_looking };
        Error error = { 0 };
        int r;

        b->found = false;
        r = fileop_start(sb, g, looking ? &looks : &plain, b, &b->op, &error);
        b->then = then;
        if (r < 0)
                build_fail_step(b, r, "%s", error.text);
}

void ops_stat(Build *b, Sandbox *sb, const char *path, BuildThen then) {
        FileRequest g;

        request_init(&g, FILE_STAT, path);
        ops_start(b, sb, &g, /* looking= */ true, then);
}

static void on_name(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Build *b = userdata;

        (void) fd_close(fd);
        (void) strv_push(&b->names, entry->path);
}

void ops_list(Build *b, Sandbox *sb, const char *path, BuildThen then) {
        static const FileOpHandlers handlers = { .entry = on_name, .end = on_end_looking };
        Error error = { 0 };
        FileRequest g;
        int r;

        strv_done(&b->names);
        b->names.max = PLAN_WORDS_MAX;
        request_init(&g, FILE_LIST, path);
        g.depth = 1;
        g.limit = PLAN_WORDS_MAX;
        r = fileop_start(sb, &g, &handlers, b, &b->op, &error);
        b->then = then;
        if (r < 0)
                build_fail_step(b, r, "%s", error.text);
}

void ops_mkdir(Build *b, Sandbox *sb, const char *path, const Account *owner, BuildThen then) {
        FileRequest g;

        request_init(&g, FILE_MKDIR, path);
        g.flags = FILE_PARENTS;
        g.mode = 0755;
        if (owner) {
                g.owner = owner->uid;
                g.group = owner->gid;
        }
        ops_start(b, sb, &g, /* looking= */ false, then);
}

/* Reading: a descriptor comes, of a regular file; what is in it is in memory, for it was just looked at. */

void ops_read(Build *b, Sandbox *sb, const char *path, BuildThen then) {
        FileRequest g;

        request_init(&g, FILE_READ, path);
        ops_start(b, sb, &g, /* looking= */ true, then);
}

void ops_write(Build *b, Sandbox *sb, const char *path, uint32_t mode, const Account *owner, char *data, size_t size, BuildThen then) {
        FileRequest g;
        int r;

        free(b->data);
        b->data = data;
        b->size = size;
        request_init(&g, FILE_WRITE, path);
        g.flags = FILE_PARENTS;
        g.mode = mode;
        if (owner) {
                g.owner = owner->uid;
                g.group = owner->gid;
        }
        ops_start(b, sb, &g, /* looking= */ false, then);
        if (b->ending)
                return;
        r = fileop_write_all(b->op, b->data, size);
        if (r < 0 && r != -EPIPE) /* else its end tells why */
                build_fail_step(b, r, "%s: cannot be written", path);
}

/* Helpers. */

static void on_helper(Build *b, size_t i, const Error *error) {
        b->helpers[i] = NULL;
        b->channels[i] = fileop_free(b->channels[i]);
        b->n_helpers--;
        if (error && !b->plan)
                build_fail(b, error);
        else if (error)
                build_fail_step(b, error->code, "%s", error->text);
        else if (b->n_helpers == 0 && b->then)
                build_continue(b, b->then);
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
        r = helper_start(b->manager->event, &(ProgramStart) { .argv = argv, .fds = fds, .n_fds = ELEMENTSOF(fds) }, ends[b->n_helpers], b,
                        b->helpers + b->n_helpers);
        return r < 0 ? error_set(reterr, r, "cannot start the archive program: %m") : 0;
}

int helper_run(Build *b, const HelperRequest *q) {
        static const FileOpHandlers none = { 0 }; /* the program hears it all */
        const size_t i = b->n_helpers;
        _cleanup_close_ int channel = -EBADF;
        Error error = { 0 };
        FileRequest g;
        int r = 0;

        if (q->sandbox) {
                request_init(&g, q->operation, q->path);
                r = fileop_start(q->sandbox, &g, &none, b, &b->channels[i], &error);
                if (r >= 0)
                        channel = r = fileop_take_channel(b->channels[i]);
        }
        if (r >= 0 && q->in >= 0)
                (void) lseek(q->in, 0, SEEK_SET); /* of a pipe: there is nothing to do */
        if (r >= 0)
                r = ops_start_program(b, q, channel, &error);
        if (r < 0 && b->plan)
                build_fail_step(b, r, "%s", error.text);
        else if (r < 0)
                build_fail(b, &error);
        if (r >= 0)
                b->n_helpers++;
        return r;
}

void helpers_wait(Build *b, BuildThen then) {
        b->then = then;
}
