/* jail.h: one sandbox, from outside.
 *
 *      1. jail_start()    everything outside is made, the new process goes through the steps of enter.c by itself
 *      2. jail_receive()  what PID 1 tells; poll jail->control_fd
 *      3. jail_kill()     ends it at once, with all its processes
 *      4. jail_finish()   waits for the last of it, reads the counters, removes what must be removed
 *
 * With a detached one 1. is all, and jail_release(): what it says goes to whoever gets the control channel, and its end is
 * seen to by cgroup_find() and cgroup_try_remove(). Nothing waits for its processes.
 *
 * Must not know: JSON, HTTP, options, terminals, what the command is. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "jail/cgroup.h"
#include "jail/enter.h"
#include "jail/spec.h"
#include "jail/warden.h"
#include "wire/message.h"

typedef struct Jail {
        pid_t pid;
        int pidfd;
        int control_fd;
        int id_holder_fd;
        uid_t id_base; /* 0: a plain user's sandbox, one id */
        Cgroup cgroup;
        Warden warden; /* none of a detached one */
        GuardSet missing;
        DiskBacking disk_backing;
} Jail;

typedef struct JailUsage {
        CgroupUsage cgroup;
        usec_t user_usec, system_usec; /* by wait(2): what was reaped; the fallback where no cgroup counts */
        uint64_t max_rss_bytes;        /* likewise: of the largest process */
} JailUsage;

/* Descriptors in stdio are borrowed; -EBADF: /dev/null. On failure nothing is left behind; but of a detached one a process that
 * was killed may still be dying, and its cgroup with it. -EEXIST: there is a detached one of that id. */
int jail_start(const JailSpec *spec, const int stdio[static 3], JailMain main, void *arg, Jail *ret, Error *reterr);

/* As channel_receive(). */
int jail_receive(Jail *j, int flags, WireMessage *ret, int *ret_fd);

int jail_kill(Jail *j);

/* The counters cost a dozen reads: NULL when nobody wants them. */
int jail_finish(Jail *j, JailUsage *ret);

/* Lets go of it without ending anything. */
void jail_release(Jail *j);
