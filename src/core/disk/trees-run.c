/* trees-run.c: runs of cove-tree, and its reports.
 *
 * The program parses untrusted input and may be compromised: its lines are bounded, and treated as plain text. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/disk/trees-internal.h"

#define LINE_MAX_BYTES   16384
#define FAILURE_MAX      480 /* fits into an Error */
#define READ_AT_ONCE     65536
#define ERRNO_MAX        4095
#define RESULT_PREFIX    "{\"result\":"
#define PROGRESS_PREFIX  "{\"progress\":"

typedef struct RunPipe {
        int fd;
        sd_event_source *io;
} RunPipe;

struct TreeRun {
        TreeRunEvents events;
        void *userdata;
        RunPipe reports, failure;
        char line[LINE_MAX_BYTES]; /* the incomplete report */
        size_t line_size;
        char text[FAILURE_MAX]; /* what it wrote to stderr; more is dropped */
        size_t text_size;
        char *result;
        bool rubbish; /* a line that is too long, or not text */
        bool telling, released; /* a callback for progress may release the call */
};

static void pipe_close(RunPipe *p) {
        p->io = sd_event_source_disable_unref(p->io);
        p->fd = fd_close(p->fd);
}

TreeRun *tree_run_free(TreeRun *run) {
        if (!run)
                return NULL;
        if (run->telling) {
                run->released = true;
                return NULL;
        }
        pipe_close(&run->reports);
        pipe_close(&run->failure);
        free(run->result);
        free(run);
        return NULL;
}

static bool trees_run_is_text(const char *line, size_t n) {
        for (size_t i = 0; i < n; i++)
                if ((unsigned char) line[i] < ' ')
                        return false;
        return n > 0;
}

static void trees_run_take_line(TreeRun *run, bool tell) {
        size_t n = run->line_size;

        run->line[n] = '\0';
        run->line_size = 0;
        if (!trees_run_is_text(run->line, n)) {
                run->rubbish = true;
                return;
        }
        if (strncmp(run->line, RESULT_PREFIX, strlen(RESULT_PREFIX)) == 0) {
                free(run->result);
                run->result = strdup(run->line);
        } else if (strncmp(run->line, PROGRESS_PREFIX, strlen(PROGRESS_PREFIX)) != 0)
                run->rubbish = true;
        else if (tell && run->events.progress && !run->released)
                run->events.progress(run->line, run->userdata);
}

static void take_reports(TreeRun *run, const char *data, size_t size, bool tell) {
        for (size_t i = 0; i < size && !run->rubbish; i++) {
                if (data[i] == '\n')
                        trees_run_take_line(run, tell);
                else if (run->line_size + 1 >= sizeof(run->line))
                        run->rubbish = true;
                else
                        run->line[run->line_size++] = data[i];
        }
}

static void take_failure(TreeRun *run, const char *data, size_t size) {
        for (size_t i = 0; i < size && run->text_size + 1 < sizeof(run->text); i++)
                run->text[run->text_size++] = data[i];
}

/* Reads at most a pipe's worth, so that a program that writes forever does not block the loop. False: no more
 * will come. */
static bool trees_run_drain(TreeRun *run, RunPipe *p, bool tell) {
        char buffer[4096];

        for (size_t total = 0; total < READ_AT_ONCE;) {
                ssize_t n = read(p->fd, buffer, sizeof(buffer));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 && errno == EAGAIN;
                total += (size_t) n;
                if (p == &run->reports)
                        take_reports(run, buffer, (size_t) n, tell);
                else
                        take_failure(run, buffer, (size_t) n);
        }
        return true;
}

static int trees_run_on_report(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        TreeRun *run = userdata;
        bool more;

        run->telling = true;
        more = trees_run_drain(run, &run->reports, /* tell= */ true);
        run->telling = false;
        if (run->released)
                tree_run_free(run);
        else if (!more)
                return sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

static int trees_run_on_failure(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        TreeRun *run = userdata;

        if (!trees_run_drain(run, &run->failure, /* tell= */ false))
                return sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

static int pipe_open(Manager *m, TreeRun *run, RunPipe *p, sd_event_io_handler_t handler, int *ret_theirs) {
        int fds[2], r;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        p->fd = fds[0];
        *ret_theirs = fds[1];
        if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        r = sd_event_add_io(m->event, &p->io, p->fd, EPOLLIN, handler, run);
        return r < 0 ? r : 0;
}

/* Reads "ERRNO a sentence". Any other output is shown as it is, without the bytes that are not text. */
static void trees_run_read_failure(TreeRun *run, Error *ret) {
        char *text = run->text, *end;
        unsigned long code;

        run->text[run->text_size] = '\0';
        for (char *p = text; *p; p++) {
                if (*p == '\n')
                        *p = '\0';
                if (*p == '\0')
                        break;
                if ((unsigned char) *p < ' ' || *p == '\x7f')
                        *p = '?';
        }
        code = strtoul(text, &end, 10);
        if (end == text || *end != ' ' || code == 0 || code > ERRNO_MAX || text[0] == '-') {
                (void) error_set(ret, -EIO, "%s", *text ? text : "cove-tree failed without a reason");
                return;
        }
        (void) error_set(ret, -(int) code, "%s", end + 1);
}

static void trees_run_judge(TreeRun *run, int wait_status, Error *ret) {
        if (WIFSIGNALED(wait_status))
                (void) error_set(ret, WTERMSIG(wait_status) == SIGKILL ? -ECANCELED : -EIO, "cove-tree was ended by signal %d%s", WTERMSIG(wait_status),
                                WTERMSIG(wait_status) == SIGKILL ? ": cancelled, or out of memory" : "");
        else if (WEXITSTATUS(wait_status) != 0)
                trees_run_read_failure(run, ret);
        else if (run->rubbish)
                (void) error_set(ret, -EBADMSG, "cove-tree sent an invalid report");
        else if (!run->result)
                (void) error_set(ret, -EPROTO, "cove-tree ended without a result");
}

void tree_run_end(TreeRun *run, int wait_status, const Error *error) {
        Error own = { 0 };

        if (!error) {
                (void) trees_run_drain(run, &run->reports, /* tell= */ false); /* it has ended, and its output is in the pipes */
                (void) trees_run_drain(run, &run->failure, /* tell= */ false);
                trees_run_judge(run, wait_status, &own);
                error = own.code < 0 ? &own : NULL;
        }
        run->events.done(error ? NULL : run->result, error, run->userdata);
        tree_run_free(run);
}

static int open_null(int fd, int flags, int *ret_own) {
        if (fd >= 0)
                return fd;
        *ret_own = open("/dev/null", flags | O_CLOEXEC);
        return *ret_own < 0 ? -errno : *ret_own;
}

static TreeRun *trees_run_new(const TreeRunEvents *events, void *userdata) {
        TreeRun *run = calloc(1, sizeof(*run));

        if (!run)
                return NULL;
        run->events = *events;
        run->userdata = userdata;
        run->reports.fd = run->failure.fd = -EBADF;
        return run;
}

static int trees_run_make_request(const TreeRef *refs, size_t n_refs, const char *const *arguments, TreeRequest *ret) {
        int r = 0;

        *ret = (TreeRequest) { .operation = TREE_RUN };
        if (n_refs > TREE_REFS_MAX)
                return -E2BIG;
        for (; ret->n_refs < n_refs; ret->n_refs++)
                ret->refs[ret->n_refs] = refs[ret->n_refs];
        for (; *arguments && r >= 0; arguments++)
                r = tree_add_argument(ret, *arguments);
        return r;
}

int trees_run(Manager *m, const TreeRef *refs, size_t n_refs, const char *const *arguments, int in_fd, int out_fd, const TreeRunEvents *events, void *userdata,
                TreeCall **ret, Error *reterr) {
        _cleanup_close_ int null_in = -EBADF, null_out = -EBADF, failure = -EBADF, reports = -EBADF;
        TreeRequest request;
        TreeCall *call = NULL;
        TreeRun *run;
        int fds[4], r;

        r = trees_run_make_request(refs, n_refs, arguments, &request);
        if (r < 0)
                return error_set(reterr, r, "cannot run cove-tree: too many arguments");
        run = trees_run_new(events, userdata);
        r = run ? pipe_open(m, run, &run->reports, trees_run_on_report, &reports) : -ENOMEM;
        if (r >= 0)
                r = pipe_open(m, run, &run->failure, trees_run_on_failure, &failure);
        if (r >= 0)
                r = fds[0] = open_null(in_fd, O_RDONLY, &null_in);
        if (r >= 0)
                r = fds[1] = open_null(out_fd, O_WRONLY, &null_out);
        if (r < 0) {
                tree_run_free(run);
                return error_set(reterr, r, "cannot run cove-tree: %m");
        }
        fds[2] = failure;
        fds[3] = reports;
        r = trees_ask(m, &request, fds, /* item= */ NULL, /* done= */ NULL, /* userdata= */ NULL, &call, reterr);
        if (r < 0) {
                tree_run_free(run);
                return r;
        }
        call->run = run;
        if (ret)
                *ret = call;
        return 0;
}
