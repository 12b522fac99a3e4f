/* executions.c: records executions: the command, its input, its end, and its output.
 *
 * The output may be large, so it is copied after the end of the execution, in slices of the loop. If the sandbox is
 * removed meanwhile, the rest of the output is lost, and the line says so. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "config/config.h"
#include "core/output.h"
#include "core/turn.h"
#include "record/internal.h"

#define SLICE (256 * 1024)

typedef enum ExecutionsSource { SOURCE_STDIN, SOURCE_STDOUT, SOURCE_STDERR, _SOURCE_MAX } ExecutionsSource;

typedef struct EndJob {
        Recorder *recorder;
        Sandbox *sandbox;
        char execution[EXECUTION_ID_MAX];
        json_t *line;
        ExecutionsSource source;
        int fd; /* of its input */
        OutputReader *output;
        bool open; /* the source is */
        uint64_t offset;
        bool input_cut;
        Blob blob;
        struct EndJob *prev, *next;
} EndJob;

static void input_name(const char *execution, char ret[static 48]) {
        (void) snprintf(ret, 48, "stdin-%s", execution);
}

/* Input beyond the ceiling is not kept at all, because half of it would be another input. */
static bool input_fits(Recorder *r, Recording *recording, int dirfd, int fd, const char *name, size_t size) {
        char cut[64];
        struct stat st;
        uint64_t there;
        int marker;

        (void) snprintf(cut, sizeof(cut), "%s-cut", name);
        if (faccessat(dirfd, cut, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                return false;
        there = fstat(fd, &st) == 0 ? (uint64_t) st.st_size : 0;
        if (recording->bytes + there + size <= r->manager->settings->recording.bytes_max &&
                        recording_resize(r, recording, there, there + size, /* reterr= */ NULL) >= 0)
                return true;
        marker = openat(dirfd, cut, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        (void) fd_close(marker);
        if (ftruncate(fd, 0) >= 0)
                (void) recording_resize(r, recording, there, 0, /* reterr= */ NULL);
        return false;
}

void record_input(Execution *x, const void *data, size_t size, void *userdata) {
        Recorder *r = userdata;
        Recording *recording = recording_get(r, x->sandbox);
        _cleanup_close_ int dirfd = recording ? recording_open_dir(r, x->sandbox->id) : -EBADF, fd = -EBADF;
        char name[48];
        int k;

        if (dirfd < 0)
                return;
        input_name(x->id, name);
        fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        k = fd < 0 ? -errno : input_fits(r, recording, dirfd, fd, name, size) ? fd_write_all(fd, data, size) : 0;
        if (k < 0)
                recording_trouble(r, x->sandbox->id, k);
}

void record_started(Execution *x, void *userdata) {
        Recorder *r = userdata;
        const ExecutionSpec *s = &x->spec;
        json_t *command, *line;

        if (s->of_template || !x->sandbox->spec.record || !recording_get(r, x->sandbox))
                return;
        command = json_array();
        for (size_t i = 0; i < s->args.n; i++)
                (void) json_array_append_new(command, json_text_or_null(s->args.items[i]));
        line = json_pack("{s:s, s:s, s:o, s:o, s:o, s:b, s:b}",
                        "type", "exec",
                        "execution", x->id,
                        "command", command,
                        "env", recording_env(&s->env),
                        "cwd", json_text_or_null(s->cwd),
                        "stdin", s->stdin_open,
                        "background", s->background);
        if (line && s->has_user)
                (void) json_object_set_new(line, "user", recording_user(s->uid, s->gid));
        if (line && s->has_timeout)
                (void) json_object_set_new(line, "timeoutSeconds", json_real((double) s->timeout_usec / USEC_PER_SEC));
        if (line && s->pty)
                (void) json_object_set_new(line, "pty", json_pack("{s:i, s:i}", "cols", s->columns, "rows", s->rows));
        recording_line(r, x->sandbox, line);
}

static EndJob *executions_job_free(EndJob *j) {
        DL_DELETE(j->recorder->jobs, j);
        (void) sandbox_unref(j->sandbox);
        json_decref(j->line);
        (void) fd_close(j->fd);
        (void) output_close(j->output);
        blob_drop(&j->blob);
        free(j);
        return NULL;
}

void record_jobs_free(Recorder *r) {
        while (r->jobs)
                executions_job_free(r->jobs);
}

bool record_is_busy(const Recorder *r, const char *id) {
        const EndJob *j;

        DL_FOREACH(r->jobs, j)
                if (strcmp(j->sandbox->id, id) == 0)
                        return true;
        return false;
}

static Execution *execution_of(const EndJob *j) {
        Sandbox *sb = sandbox_unless_gone(j->sandbox);

        return sb ? manager_find_execution(sb, j->execution) : NULL;
}

static int open_source(EndJob *j, Execution *x, Recording *recording) {
        _cleanup_close_ int dirfd = -EBADF;
        struct stat st;
        char name[64];
        int fd;

        if (j->source != SOURCE_STDIN)
                return execution_open_output(x, j->source == SOURCE_STDOUT ? STREAM_STDOUT : STREAM_STDERR, &j->output);
        dirfd = recording_open_dir(j->recorder, j->sandbox->id);
        if (dirfd < 0)
                return dirfd;
        input_name(j->execution, name);
        fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) >= 0 && unlinkat(dirfd, name, 0) >= 0)
                (void) recording_resize(j->recorder, recording, (uint64_t) st.st_size, 0, /* reterr= */ NULL);
        (void) strcat(name, "-cut");
        j->input_cut = unlinkat(dirfd, name, 0) == 0;
        j->fd = fd;
        return 0;
}

static ssize_t executions_read_source(EndJob *j, Execution *x, void *buffer, size_t size) {
        ssize_t n;

        if (j->source != SOURCE_STDIN)
                return execution_read_output(x, j->source == SOURCE_STDOUT ? STREAM_STDOUT : STREAM_STDERR, j->output, buffer, size, j->offset);
        n = pread(j->fd, buffer, size, (off_t) j->offset);
        return n < 0 ? -errno : n;
}

static void executions_next_source(EndJob *j, json_t *content) {
        static const char *const keys[_SOURCE_MAX] = { "stdin", "stdout", "stderr" };

        if (content && j->source == SOURCE_STDIN && j->input_cut)
                (void) json_object_set_new(content, "cut", json_true());
        if (content)
                (void) json_object_set_new(j->line, keys[j->source], content);
        j->fd = fd_close(j->fd);
        j->output = output_close(j->output);
        j->open = false;
        j->offset = 0;
        j->source++;
}

/* A source that does not exist (no input; the stderr of a terminal) has no key. */
static void executions_step(EndJob *j, Execution *x, Recording *recording) {
        static char buffer[SLICE];
        ssize_t n;

        if (!j->open) {
                if (open_source(j, x, recording) < 0 || blob_begin(j->recorder, j->sandbox->id, &j->blob) < 0) {
                        executions_next_source(j, NULL);
                        return;
                }
                j->open = true;
        }
        n = executions_read_source(j, x, buffer, sizeof(buffer));
        if (n > 0) {
                blob_add(&j->blob, buffer, (size_t) n);
                j->offset += (uint64_t) n;
        } else
                executions_next_source(j, blob_end(&j->blob));
}

/* One slice. */
static void executions_work(Recorder *r) {
        EndJob *j = r->jobs;
        Execution *x = j ? execution_of(j) : NULL;
        Recording *recording = x ? recording_get(r, x->sandbox) : NULL;

        if (!j)
                return;
        if (recording && j->source < _SOURCE_MAX)
                executions_step(j, x, recording);
        if (recording && j->source < _SOURCE_MAX)
                return;
        if (recording)
                recording_line(r, x->sandbox, TAKE_PTR(j->line));
        executions_job_free(j);
}

static int executions_on_turn(sd_event_source *source, uint64_t usec, void *userdata) {
        Recorder *r = userdata;

        executions_work(r);
        return r->jobs ? turn_again(source) : 0;
}

/* Most output is small: it is copied here, before a caller can remove the sandbox. */
static void finish_soon(Recorder *r) {
        for (int i = 0; i < 8 && r->jobs; i++)
                executions_work(r);
        if (r->jobs)
                (void) turn_again(r->turn);
}

void record_ended(Execution *x, void *userdata) {
        Recorder *r = userdata;
        EndJob *j;
        int k = 0;

        if (!x->sandbox->spec.record || !recording_get(r, x->sandbox))
                return;
        if (!r->turn)
                k = turn_new(r->manager->event, &r->turn, executions_on_turn, r);
        j = k < 0 ? NULL : calloc(1, sizeof(*j));
        if (!j)
                return;
        *j = (EndJob) { .recorder = r, .fd = -EBADF, .blob = BLOB_EMPTY };
        j->sandbox = sandbox_ref(x->sandbox);
        memcpy(j->execution, x->id, sizeof(j->execution));
        j->line = json_pack("{s:s, s:s, s:o, s:o, s:s, s:I, s:b}",
                        "type", "end",
                        "execution", x->id,
                        "exitCode", x->exit_code >= 0 ? json_integer(x->exit_code) : json_null(),
                        "signal", x->signal > 0 ? json_integer(x->signal) : json_null(),
                        "reason", execution_reason_name(x->reason),
                        "durationMs", (json_int_t) (x->duration_usec / USEC_PER_MSEC),
                        "truncated", x->journals[STREAM_STDOUT].truncated || x->journals[STREAM_STDERR].truncated);
        DL_APPEND(r->jobs, j);
        if (!j->line)
                executions_job_free(j);
        else
                finish_soon(r);
}
