/* floor.h: what the kernel alone costs, with nothing of a sandbox's own work.
 *
 * Two floors. "fork-exec" is a bare process: fork, execve, exit. "namespaces" is the least that any sandbox with cove's
 * namespaces pays: one clone3 into user, pid, mount, ipc, uts, net, cgroup and time namespaces, an id map of its own
 * range, a tmpfs as root by pivot_root, exec. No cgroup, no seccomp, no overlay, no /proc, no /dev.
 * Must not know: the other subjects, how time is taken.
 * Runs in the caller's process up to the clone: the caller should be small, since its page tables are copied. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct FloorCommand {
        int exec_fd; /* O_PATH of the program: it need not be visible in the new root */
        const char *const *argv;
        bool with_usr;    /* namespaces only: the host's /usr is bound in, for programs with libraries */
        const int *stdio; /* three descriptors that become 0, 1 and 2 */
} FloorCommand;

/* Return with the child started; the caller waits for it. A child that fails says which step on its stderr and ends
 * with FLOOR_EXIT_FAILED. */
#define FLOOR_EXIT_FAILED 125

int floor_start_exec(const FloorCommand *command, pid_t *ret);
int floor_start_namespaces(const FloorCommand *command, pid_t *ret);
