/* spawn.h: starts a guest process.
 *
 * The list of steps that a new guest process takes before exec. They are per process; the walls of the sandbox as a
 * whole are already up. The child shares PID 1's memory until exec (vfork): nothing is copied, and a variable reports
 * the failing step. PID 1 is not dumpable, so no guest can look in while both share it.
 * Must not know: the control channel, terminals' other ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "confine/rlimits.h"

typedef struct SpawnSpec {
        char *const *argv;
        char *const *envp;
        const char *path; /* PATH of the guest, for a command without a slash */
        const char *workdir;
        uid_t uid;
        gid_t gid;
        bool single_id;        /* one id only: it is ours already, and setgroups is closed */
        uint64_t capabilities; /* that the guest keeps */
        uint64_t bounding;     /* capabilities that may still be in the bounding set; 0: PID 1's */
        GuestRlimits rlimits;
        bool seccomp;
        unsigned seccomp_flags;
        bool no_processes; /* it may make threads only */
        int stdio[3]; /* become 0–2; -EBADF: unchanged */
        int channel_fd; /* becomes 3; below 3: none */
        bool terminal;   /* it gets a controlling terminal: */
        int terminal_fd; /* 0: stdio[0]; else this one */
        bool prepared; /* the caller has done, once for many: signal defaults, common limits, bounding set, groups */
} SpawnSpec;

typedef struct SpawnFailure {
        const char *step;
        int error;          /* positive errno */
        const char *detail; /* may be NULL */
} SpawnFailure;

/* Returns the pid, or a negative errno with the failure filled in. */
pid_t spawn(const SpawnSpec *spec, SpawnFailure *ret_failure);

/* Takes the same steps except exec, in a running process that continues: a zygote's child (zygote/enter.c). After a
 * failure the process must end. */
int spawn_confine(const SpawnSpec *spec, SpawnFailure *ret_failure);
