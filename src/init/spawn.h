/* spawn.h: from PID 1 to a guest process.
 *
 * The list of steps that a new guest process takes before exec. They are per process; what holds for the sandbox as a
 * whole is there already. The child borrows PID 1's memory until exec (vfork), which saves copying it, and lets the
 * failing step be told by a variable. PID 1 is not dumpable, so nobody can look in while both share it.
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
        uint64_t capabilities; /* what the guest keeps */
        uint64_t bounding;     /* what may still be in the bounding set; 0: what PID 1 has */
        GuestRlimits rlimits;
        bool seccomp;
        unsigned seccomp_flags;
        bool no_processes; /* it and its threads are all */
        int stdio[3]; /* what becomes 0–2; -EBADF: stays */
        int channel_fd; /* becomes 3; below 3: none */
        bool terminal;   /* it gets a controlling terminal: */
        int terminal_fd; /* 0: what stdio[0] is; else another */
        bool prepared; /* done once for many: default actions of signals, common limits, bounding set, groups */
} SpawnSpec;

typedef struct SpawnFailure {
        const char *step;
        int error;          /* positive errno */
        const char *detail; /* may be NULL */
} SpawnFailure;

/* Returns the pid, or a negative errno with the failure filled in. */
pid_t spawn(const SpawnSpec *spec, SpawnFailure *ret_failure);

/* The same steps but for the last, in a process that is there already and goes on: what becomes of a zygote's child (zygote/enter.c). There is no way back from
 * a failure but to end. */
int spawn_confine(const SpawnSpec *spec, SpawnFailure *ret_failure);
