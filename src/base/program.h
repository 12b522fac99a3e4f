/* program.h: finds and starts the suite's other programs, and reads why they failed.
 *
 * The one way to start a program of cove: descriptors by number, no signal blocked, SIGPIPE at its default, and only
 * the listed descriptors inherited (all others are close-on-exec). cove-archive, cove-registry and cove-tree share one
 * contract: success is status 0 with nothing on stderr; on failure the last line of stderr is an errno as a number, a
 * space and a sentence. core/helper.h watches such a program from the daemon's loop. Exceptions: `cove run` starts
 * cove-gate itself, since it must drop root between fork and exec; the spawner starts cove-tree in namespaces.
 * Must not know: what a program is for, what its descriptors carry, event loops. Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Searches beside our own executable (as in the build directory), in ../libexec/cove, in the configured directory of
 * helpers, and then among the kept programs. Negative: not found. The caller frees. */
int program_path(const char *name, char **ret);

#define PROGRAM_FDS_MAX  8
#define PROGRAM_KEPT_MAX 8

/* Opens a program and keeps it open. A process that changes its user later may lose access to the directory, as below
 * a home of mode 0700: program_path() then returns the path of the open file, which program_start() can execute.
 * name: must stay valid for the life of the process. */
int program_keep(const char *name);

/* Sets the calling process's name as ps shows it. The kernel uses the last part of the executed path, which is a number
 * for an open file. */
void program_set_name(const char *name);

typedef struct ProgramStart {
        const char *path;
        const char *const *argv;
        char *const *environment; /* NULL: as ours */
        const int *fds;           /* its descriptors from 0 on; copied, so they may have any numbers here; -EBADF: /dev/null */
        size_t n_fds;
        bool session; /* give it a session of its own, out of reach of the terminal's signals */
} ProgramStart;

int program_start(const ProgramStart *s, pid_t *ret);
void program_kill(pid_t pid); /* and waits until it is gone */

/* A pipe; the reading end is ours and does not block. */
int program_pipe(int *ret_ours, int *ret_theirs);

/* Called by the failing program: writes the failure line to stderr, always as one line, even if a name contains a
 * newline. */
void program_tell_failure(const Error *error);
/* Reads the failure line from the pipe that was the program's stderr; -ENODATA: there is none. */
int program_read_failure(int fd, Error *ret);
