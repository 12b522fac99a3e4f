/* init.h: PID 1 of a sandbox.
 *
 * Starts the guest's command, reaps everything, tells the supervisor how the command ended, and takes the whole
 * sandbox down with it. Goes when the supervisor goes.
 * Runs inside, as guest root with a few capabilities more than any guest, not dumpable, behind all walls but the
 * syscall filter. Descriptors 0–2 are the guest's, the control channel is the only other.
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
        uint64_t guards_missing; /* told to the supervisor */
        SpawnSpec command;
        bool tty; /* give the command a terminal, and the supervisor its other end */
        struct winsize window;
        bool measure_disk; /* the root is the sandbox's own file system: tell how full it is when the command fails */
        bool always_measure; /* … or does not */
} InitSpec;

_noreturn_ void init_main(const InitSpec *spec);
