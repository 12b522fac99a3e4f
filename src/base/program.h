/* program.h: where the suite's other programs are, how they are started, and their last words.
 *
 * The one way to start a program of ours: descriptors by number, no signal blocked, SIGPIPE as it is by default, nothing inherited but what is
 * listed (descriptors of ours are close-on-exec). cove-archive, cove-registry and cove-tree share one contract: 0 and nothing on stderr is success;
 * else the last line of stderr is an errno as a number, a space and a sentence. core/helper.h watches such a program from the daemon's loop.
 * `cove run` starts cove-gate by itself, since it has to give root up between fork and exec; the spawner starts cove-tree in namespaces.
 * Must not know: what a program is for, what goes over its descriptors, event loops. Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Beside our own executable, as in the build directory, else in ../libexec/cove, else in the configured directory of helpers, else the one that was kept. Negative: there is none.
 * The caller frees. */
int program_path(const char *name, char **ret);

#define PROGRAM_FDS_MAX  8
#define PROGRAM_KEPT_MAX 8

/* Opens a program for good. Who is another user later may not reach the directory any more, as below a home of mode 0700: program_path() then gives
 * the path of the open file, which program_start() can execute. name: lives as long as we do. */
int program_keep(const char *name);

/* Of the calling process, as ps shows it. The kernel takes the last part of the path that was executed, which of an open file is a number. */
void program_set_name(const char *name);

typedef struct ProgramStart {
        const char *path;
        const char *const *argv;
        char *const *environment; /* NULL: as ours */
        const int *fds;           /* its descriptors from 0 on, copied, so that they may have any numbers; -EBADF: /dev/null */
        size_t n_fds;
        bool session; /* one of its own: what a terminal signals is not for it */
} ProgramStart;

int program_start(const ProgramStart *s, pid_t *ret);
void program_kill(pid_t pid); /* and waits until it is gone */

/* A pipe whose reading end, which does not block, is ours. */
int program_pipe(int *ret_ours, int *ret_theirs);

/* The failure line, by the program itself, on its stderr: one line, whatever names have in them. */
void program_tell_failure(const Error *error);
/* The last line out of the pipe that was its stderr; -ENODATA: there is none. */
int program_read_failure(int fd, Error *ret);
