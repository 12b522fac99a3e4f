/* cove run: one command in one sandbox, no daemon. */

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "cli/report.h"
#include "cli/run-options.h"
#include "cli/supervise.h"
#include "cli/verbs.h"
#include "jail/keep.h"

#define STDERR_PATIENCE_MS 1000

static int open_report(const char *path, int *ret_fd, Error *reterr) {
        int fd;

        if (!path)
                return 0;
        if (strcmp(path, "-") == 0)
                fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        else
                fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0)
                return error_set(reterr, -errno, "--report: cannot write '%s': %m", path);
        *ret_fd = fd;
        return 0;
}

/* The layer must belong to the sandbox alone: a directory that we make, or an empty one. */
static int open_keep(const char *path, int *ret_fd, bool *ret_made, Error *reterr) {
        bool made = false;
        int fd;

        if (!path)
                return 0;
        if (mkdir(path, 0700) == 0)
                made = true;
        else if (errno != EEXIST)
                return error_set(reterr, -errno, "--keep: cannot make '%s': %m", path);
        else if (rmdir(path) < 0 || mkdir(path, 0700) < 0) {
                if (errno == ENOTEMPTY || errno == EEXIST)
                        return error_set(reterr, -ENOTEMPTY, "--keep: '%s' is not empty", path);
                return error_set(reterr, -errno, "--keep: '%s': %m", path);
        }
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return error_set(reterr, -errno, "--keep: '%s': %m", path);
        *ret_fd = fd;
        *ret_made = made;
        return 0;
}

static int cli_run_prepare(RunOptions *o, int *ret_report_fd, bool *ret_keep_made, Error *reterr) {
        int r = open_report(o->report, ret_report_fd, reterr);
        if (r < 0)
                return r;
        r = open_keep(o->keep, &o->spec.keep_fd, ret_keep_made, reterr);
        if (r < 0 || !o->txn.dir)
                return r;
        return run_txn_begin(&o->txn, &o->spec, &o->command, reterr);
}

/* A caller that has stopped reading the program's output may not read stderr either: writing to it would
 * block for ever. */
static bool stderr_is_read(void) {
        return poll(&(struct pollfd) { .fd = STDERR_FILENO, .events = POLLOUT }, 1, STDERR_PATIENCE_MS) != 0;
}

/* Prints one line on stderr if the program did not end by itself. */
static void cli_run_tell(const RunOptions *o, const Outcome *out) {
        bool own_end = out->reason == REASON_EXITED || out->reason == REASON_SIGNALED || out->reason == REASON_DISK;

        if (!stderr_is_read())
                return;
        if (out->message[0] && !own_end)
                log_error("%s", out->message);
        else if (out->message[0])
                log_debug("%s", out->message);
        if (out->cleanup < 0)
                log_warning("cannot remove the cgroup of sandbox %s yet: %s", o->spec.id, strerror(-out->cleanup));
        for (Guard g = 0; g < _GUARD_MAX && log_verbosity > 0 && out->started; g++)
                if (out->guards_missing & GUARD_BIT(g))
                        log_debug("guard left out: %s (%s)", guard_name(g), guard_purpose(g));
}

static int cli_run(RunOptions *o) {
        _cleanup_close_ int report_fd = -EBADF;
        bool keep_made = false;
        Error error = { 0 };
        Outcome out;
        int r;

        r = cli_run_prepare(o, &report_fd, &keep_made, &error);
        if (r < 0) {
                log_error("%s", error.text);
                (void) run_txn_end(&o->txn, /* started= */ false, EXIT_OWN_FAILURE, /* quiet= */ true, NULL);
                return EXIT_OWN_FAILURE;
        }

        supervise(o, &out);
        cli_run_tell(o, &out);
        if (o->keep)
                (void) keep_tidy(o->spec.keep_fd, /* everything= */ !out.started);
        if (keep_made && !out.started)
                (void) rmdir(o->keep);

        if (run_txn_end(&o->txn, out.started, out.exit_status, o->net.quiet, &error) < 0) {
                log_error("%s", error.text);
                out.exit_status = EXIT_OWN_FAILURE;
        }
        if (report_fd >= 0) {
                r = report_write(report_fd, o, &out);
                if (r < 0) {
                        errno = -r;
                        if (out.started || !out.message[0]) /* one failure, one line */
                                log_error("--report: cannot write '%s': %m", o->report);
                        return EXIT_OWN_FAILURE;
                }
        }
        return out.exit_status;
}

int verb_run(int argc, char **argv) {
        Error error = { 0 };
        RunOptions o;
        int status;

        if (run_options_parse(&o, argc, argv, &error) < 0) {
                log_error("%s", error.text);
                status = EXIT_OWN_FAILURE;
        } else if (o.help) {
                run_options_print_help();
                status = 0;
        } else
                status = cli_run(&o);
        run_options_done(&o);
        return status;
}
