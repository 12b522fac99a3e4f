#include "client/txn/tree-run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/program.h"

#define ARGUMENTS_MAX 600

static int show_lines(int fd, DiffShow *show, Error *reterr) {
        FILE *f = fdopen(fd, "r");
        _cleanup_free_ char *line = NULL;
        size_t room = 0;
        ssize_t n;
        int r = 0;

        if (!f) {
                (void) fd_close(fd);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        while (r >= 0 && (n = getline(&line, &room, f)) > 0) {
                _cleanup_json_ json_t *change = json_parse(line, (size_t) n, reterr);

                r = !change ? -EBADMSG : diff_show_json(show, change);
                if (r == -ENOMEM)
                        (void) error_set(reterr, r, "out of memory");
        }
        (void) fclose(f);
        return r;
}

int tree_run_changes(int dir_fd, int upper_fd, const Strv *paths, DiffShow *show, Error *reterr) {
        _cleanup_free_ char *program = NULL;
        const char *argv[ARGUMENTS_MAX] = { "cove-tree", "changes", "--upper", "--patch" };
        int out[2] = { -EBADF, -EBADF }, failures[2] = { -EBADF, -EBADF }, n = 4, status = 0, r;
        Error failure;
        pid_t pid;

        if (paths->n * 2 + 8 > ARGUMENTS_MAX)
                return error_set(reterr, -E2BIG, "more than %d paths", ARGUMENTS_MAX / 2 - 4);
        for (size_t i = 0; i < paths->n; i++) {
                argv[n++] = "--path";
                argv[n++] = paths->items[i];
        }
        r = program_path("cove-tree", &program);
        if (r < 0)
                return error_set(reterr, r, "cannot start cove-tree, which compares the files: %m; it belongs beside cove, or where it was installed");
        if (pipe2(out, O_CLOEXEC) < 0 || pipe2(failures, O_CLOEXEC) < 0)
                return error_set(reterr, -errno, "cannot make a pipe: %m");
        /* in the order of tree/tree.h: 4 is the upper, with the changes, 5 the directory below it */
        r = program_start(&(ProgramStart) {
                .path = program,
                .argv = argv,
                .fds = (const int[]) { -EBADF, out[1], failures[1], -EBADF, upper_fd, dir_fd },
                .n_fds = 6,
        }, &pid);
        (void) fd_close(out[1]);
        (void) fd_close(failures[1]);
        if (r < 0)
                (void) error_set(reterr, r, "cannot start cove-tree: %m");
        else {
                r = show_lines(out[0], show, reterr);
                out[0] = -EBADF;
                if (r < 0)
                        (void) kill(pid, SIGKILL);
                (void) waitpid(pid, &status, 0);
                if (r >= 0 && status != 0)
                        r = error_set(reterr, -EIO, "cannot compare the files: %s",
                                        program_read_failure(failures[0], &failure) < 0 ? "cove-tree has failed" : failure.text);
        }
        (void) fd_close(out[0]);
        (void) fd_close(failures[0]);
        return r;
}
