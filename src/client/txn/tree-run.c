#include "client/txn/tree-run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/program.h"

#define ARGUMENTS_MAX 600

/* Descriptors as tree/tree.h has them: 4 is what was changed, 5 what it stands on. All are moved up first: their numbers may be each other's. */
static int spawn_tree(const char *program, char *const *argv, int out, int failures, int upper, int dir, pid_t *ret) {
        posix_spawn_file_actions_t actions;
        int high[4] = { out, failures, upper, dir }, r = 0;

        for (size_t i = 0; i < ELEMENTSOF(high); i++) {
                high[i] = fcntl(high[i], F_DUPFD_CLOEXEC, 16);
                if (high[i] < 0)
                        r = errno;
        }
        if (r == 0)
                r = posix_spawn_file_actions_init(&actions);
        if (r == 0) {
                (void) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
                (void) posix_spawn_file_actions_adddup2(&actions, high[0], 1);
                (void) posix_spawn_file_actions_adddup2(&actions, high[1], 2);
                (void) posix_spawn_file_actions_addopen(&actions, 3, "/dev/null", O_WRONLY, 0);
                (void) posix_spawn_file_actions_adddup2(&actions, high[2], 4);
                (void) posix_spawn_file_actions_adddup2(&actions, high[3], 5);
                r = posix_spawn(ret, program, &actions, NULL, argv, environ);
                (void) posix_spawn_file_actions_destroy(&actions);
        }
        for (size_t i = 0; i < ELEMENTSOF(high); i++)
                (void) fd_close(high[i]);
        return -r;
}

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

/* "ERRNO WORDS": tree.h's. */
static int tree_run_explain(int fd, Error *reterr) {
        char text[ERROR_TEXT_MAX];
        ssize_t n = fd_read_full(fd, text, sizeof(text) - 1);
        char *words;

        text[n > 0 ? n : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        (void) strtol(text, &words, 10);
        return error_set(reterr, -EIO, "cannot compare the files: %s", *words ? words + strspn(words, " ") : "cove-tree has failed");
}

int tree_run_changes(int dir_fd, int upper_fd, const Strv *paths, DiffShow *show, Error *reterr) {
        _cleanup_free_ char *program = NULL;
        const char *argv[ARGUMENTS_MAX] = { "cove-tree", "changes", "--upper", "--patch" };
        int out[2] = { -EBADF, -EBADF }, failures[2] = { -EBADF, -EBADF }, n = 4, status = 0, r;
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
        r = spawn_tree(program, (char *const *) argv, out[1], failures[1], upper_fd, dir_fd, &pid);
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
                        r = tree_run_explain(failures[0], reterr);
        }
        (void) fd_close(out[0]);
        (void) fd_close(failures[0]);
        return r;
}
