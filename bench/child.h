/* child.h: programs started and awaited with as little of our own cost as can be.
 *
 * posix_spawn (vfork inside, so our size does not count), three given descriptors as stdio, wait4 with a deadline.
 * Must not know: subjects, workloads.
 * One deadline at a time: it is the process's interval timer. Call child_init() before all else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"

/* stdio that says nothing: an empty file without a name, and not /dev/null, which some peers chown to their user. */
extern const int *const child_quiet;

/* Makes it, catches SIGINT, SIGTERM, SIGHUP and SIGALRM, and adds the system's directories to PATH. */
int child_init(void);

/* True from the first SIGINT, SIGTERM or SIGHUP on: measure no more, clean up, leave. */
bool child_interrupted(void);

/* Where our own program lies. */
int child_own_directory(char *ret, size_t size);
/* Looks through PATH; -ENOENT. */
int child_find(const char *name, char *ret, size_t size);

int child_start(const char *const argv[], const int stdio[3], pid_t *ret);

/* Waits for this child, or for any with -1. 0 with pid and wait status; -ETIME when the deadline has passed, -EINTR
 * when we are interrupted, -ECHILD when there is none. */
void child_deadline(usec_t after); /* 0: none */
int child_wait(pid_t pid, pid_t *ret_pid, int *ret_status);

/* Kills and reaps one child of ours. */
void child_kill(pid_t pid);

/* Puts a wait status into words; 0 when it is a clean exit, else -EPROTO. */
int child_check(int status, Error *reterr);
