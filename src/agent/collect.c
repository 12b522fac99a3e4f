/* collect.c: keeps the artifacts of an ended execution: both logs, reports of its usage and its error, and the files
 * that its caller asked for. The execution says which could not be kept, and why; that never changes its outcome. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/glob.h"
#include "agent/internal.h"
#include "artifact/artifact.h"
#include "base/fd.h"
#include "core/mask.h"
#include "core/fileop.h"
#include "json/json.h"

#define WORKSPACE    "/workspace"
#define OWN_FILES    ".cove/"
#define LIST_MAX     10000
#define LIST_DEPTH   32
#define ERRORS_MAX   1024
#define FILES_PREFIX "files/"

struct Collection {
        Run *run;
        unsigned n_pending; /* artifacts that are being stored */
        FileOp *op;
        Strv paths; /* to store, relative to the workspace */
        size_t next;
        bool listing, busy; /* busy: inside the start of the collection */
        int fd;             /* of the file that was opened last */
        char errors[ERRORS_MAX];
};

Collection *collect_free(Collection *c) {
        if (!c)
                return NULL;
        artifacts_forget(c->run->agents->artifacts, c);
        fileop_free(c->op);
        (void) fd_close(c->fd);
        strv_done(&c->paths);
        free(c);
        return NULL;
}

void collect_forget(Agents *a, const char *id) {
        if (a->artifacts)
                (void) artifacts_delete_owner(a->artifacts, ARTIFACT_OF_AGENT, id);
}

static void collect_complain(Collection *c, const char *format, ...) _printf_(2, 3);
static void collect_complain(Collection *c, const char *format, ...) {
        size_t used = strlen(c->errors);
        va_list ap;

        if (used > 0 && used + 3 < sizeof(c->errors))
                used += (size_t) snprintf(c->errors + used, sizeof(c->errors) - used, "; ");
        va_start(ap, format);
        if (used < sizeof(c->errors))
                (void) vsnprintf(c->errors + used, sizeof(c->errors) - used, format, ap);
        va_end(ap);
}

static void collect_check_complete(Collection *c) {
        Run *run = c->run;

        if (c->busy || c->n_pending > 0 || c->op)
                return;
        if (c->errors[0]) {
                free(run->job.capture_error);
                run->job.capture_error = strdup(c->errors);
        }
        run_collected(run); /* frees this collection */
}

/* Storing. */

static void collect_on_kept(int r, const Artifact *artifact, const char *text, void *userdata) {
        Collection *c = userdata;

        c->n_pending--;
        if (r < 0)
                collect_complain(c, "%s", text && *text ? text : strerror(-r));
        collect_check_complete(c);
}

/* With its name, its type and its bytes. */
static void collect_keep(Collection *c, ArtifactSpec spec) {
        const Job *j = &c->run->job;
        Error error = { 0 };
        int r;

        spec.owner_kind = ARTIFACT_OF_AGENT;
        spec.owner_id = j->id;
        spec.tenant = j->sandbox.tenant && *j->sandbox.tenant ? j->sandbox.tenant : NULL;
        spec.truncate = strncmp(spec.name, FILES_PREFIX, strlen(FILES_PREFIX)) != 0;
        r = artifacts_put(c->run->agents->artifacts, &spec, collect_on_kept, c, &error);
        if (r < 0)
                collect_complain(c, "%s: %s", spec.name, error.text[0] ? error.text : strerror(-r));
        else
                c->n_pending++;
}

static void collect_keep_json(Collection *c, const char *name, json_t *value) {
        size_t size = 0;
        char *text = json_print(value, &size);

        json_decref(value);
        if (text)
                collect_keep(c, (ArtifactSpec) { .name = name, .type = "application/json", .data = text, .size = size, .fd = -EBADF });
        free(text);
}

static void collect_output(Collection *c, ExecutionStream stream, const char *name, uint64_t bytes) {
        OutputReader *output = TAKE_PTR(c->run->outputs[stream]);

        if (output)
                collect_keep(c, (ArtifactSpec) { .name = name, .type = "text/plain", .size = bytes, .fd = -EBADF, .output = output, .mask = c->run->mask });
}

static void keep_reports(Collection *c) {
        Run *run = c->run;

        collect_output(c, STREAM_STDOUT, "stdout.log", run->job.out.bytes);
        collect_output(c, STREAM_STDERR, "stderr.log", run->job.err.bytes);
        collect_keep_json(c, "usage.json", agents_usage_json(run->agents, &run->job));
        if (run->job.error)
                collect_keep_json(c, "error.json", agents_error_json(run->agents, &run->job, &run->attempt));
}

/* Captured files: lists the workspace, then stores one file after the other. */

static bool collect_is_wanted(const Job *j, const char *path) {
        if (strncmp(path, OWN_FILES, strlen(OWN_FILES)) == 0)
                return false;
        for (size_t i = 0; i < j->capture.n; i++)
                if (glob_match(j->capture.items[i], path))
                        return true;
        return j->capture.n == 0;
}

static int start_operation(Collection *c, FileOperation operation, const char *path, const FileOpHandlers *handlers) {
        Sandbox *sb = run_sandbox(c->run);
        FileRequest g = {
                .operation = (uint16_t) operation,
                .mode = FILE_MODE_NONE,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
                .depth = operation == FILE_LIST ? LIST_DEPTH : 0,
                .limit = operation == FILE_LIST ? LIST_MAX : 0,
        };
        Error error = { 0 };
        int r;

        if (!sb) {
                collect_complain(c, "%s: the sandbox is gone", path);
                return -ESTALE;
        }
        g.uid = sb->spec.uid;
        g.gid = sb->spec.gid;
        (void) snprintf(g.path, sizeof(g.path), "%s", path);
        r = fileop_start(sb, &g, handlers, c, &c->op, &error);
        if (r < 0)
                collect_complain(c, "%s: %s", path, error.text);
        return r;
}

static void collect_next_file(Collection *c);

static void on_file_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Collection *c = userdata;

        (void) fd_close(c->fd);
        c->fd = fd;
}

static void on_file_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Collection *c = userdata;
        const char *relative = c->paths.items[c->next++];
        char name[FILE_PATH_BYTES + sizeof(FILES_PREFIX)];

        c->op = fileop_free(c->op);
        (void) snprintf(name, sizeof(name), FILES_PREFIX "%s", relative);
        if (error < 0 || c->fd < 0)
                collect_complain(c, "%s: %s", relative, error == -EPIPE ? "the sandbox has ended" : strerror(error < 0 ? -error : EPROTO));
        else
                collect_keep(c, (ArtifactSpec) { .name = name, .size = UINT64_MAX, .fd = TAKE_FD(c->fd) });
        collect_next_file(c);
}

static void collect_next_file(Collection *c) {
        static const FileOpHandlers handlers = { .entry = on_file_entry, .end = on_file_end };

        while (c->next < c->paths.n) {
                char path[FILE_PATH_BYTES];

                if ((size_t) snprintf(path, sizeof(path), WORKSPACE "/%s", c->paths.items[c->next]) < sizeof(path) &&
                                start_operation(c, FILE_READ, path, &handlers) >= 0)
                        return;
                c->next++;
        }
        collect_check_complete(c);
}

static void on_list_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Collection *c = userdata;

        if (!S_ISREG(entry->mode) || !collect_is_wanted(&c->run->job, entry->path))
                return;
        if (strv_push(&c->paths, entry->path) == -E2BIG)
                c->listing = false; /* more files than may be stored */
}

static void collect_on_list_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Collection *c = userdata;

        c->op = fileop_free(c->op);
        if (error < 0)
                collect_complain(c, "the workspace cannot be listed: %s", error == -EPIPE ? "the sandbox has ended" : strerror(-error));
        if (count > LIST_MAX)
                collect_complain(c, "the workspace has more than %d files, the rest was not examined", LIST_MAX);
        if (!c->listing)
                collect_complain(c, "more than %zu files match (artifacts.maxFiles); the rest was not collected", c->paths.max);
        collect_next_file(c);
}

static void capture_files(Collection *c) {
        static const FileOpHandlers handlers = { .entry = on_list_entry, .end = collect_on_list_end };

        c->listing = true;
        c->paths = (Strv) STRV_INIT(c->run->agents->manager->settings->artifacts.files_max);
        (void) start_operation(c, FILE_LIST, WORKSPACE, &handlers);
}

int collect_start(Run *run) {
        Collection *c;
        bool pending;

        if (!run->agents->artifacts || !run->agents->manager->settings->artifacts.enabled)
                return 0;
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        *c = (Collection) { .run = run, .busy = true, .fd = -EBADF };
        run->collection = c;
        keep_reports(c);
        if (run->job.capture_files && run->execution == NULL && run->job.has_result)
                capture_files(c);
        c->busy = false;
        pending = c->n_pending > 0 || c->op;
        if (!pending && c->errors[0]) {
                free(run->job.capture_error);
                run->job.capture_error = strdup(c->errors);
        }
        return pending;
}
