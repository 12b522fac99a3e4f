/* init.h: PID 1 of a sandbox.
 *
 * Starts the guest's command, reaps all processes, reports the command's end to the supervisor, and ends the whole
 * sandbox with it. Ends when the supervisor ends.
 * Runs inside, as guest root with a few more capabilities than any guest, not dumpable, behind all walls except the
 * syscall filter. Descriptors 0–2 are the guest's; the only other is the control channel.
 * Must not know: how the walls were built, anything about the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "base/macro.h"
#include "init/spawn.h"

typedef struct InitSpec {
        int control_fd;
        uint64_t guards_missing; /* reported to the supervisor */
        SpawnSpec command;
        bool tty; /* give the command a terminal, and the supervisor its other end */
        struct winsize window;
        bool measure_disk; /* the root is the sandbox's own file system: report its usage when the command fails */
        bool always_measure; /* … and when it succeeds */
} InitSpec;

_noreturn_ void init_main(const InitSpec *spec);
