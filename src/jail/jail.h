/* jail.h: one sandbox, from outside.
 *
 *      1. jail_start()    makes everything outside; the new process takes the steps of enter.c by itself
 *      2. jail_receive()  reads messages of PID 1; poll jail->control_fd
 *      3. jail_kill()     ends it at once, with all its processes
 *      4. jail_finish()   waits for its end, reads the counters, removes what must be removed
 *
 * A detached sandbox has only step 1 and jail_release(): its messages go to the holder of the control channel, and its
 * end is handled by cgroup_find() and cgroup_try_remove(). Nothing here waits for its processes.
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
        int id_holder_fd, id_name_fd; /* ids.h */
        uid_t id_base; /* 0: a plain user's sandbox, one id */
        Cgroup cgroup;
        Warden warden; /* a detached sandbox has none */
        GuardSet missing;
        DiskBacking disk_backing;
} Jail;

typedef struct JailUsage {
        CgroupUsage cgroup;
        usec_t user_usec, system_usec; /* by wait(2), of reaped processes; the fallback where no cgroup counts */
        uint64_t max_rss_bytes;        /* likewise: of the largest process */
} JailUsage;

/* Descriptors in stdio are borrowed; -EBADF: /dev/null. A failure leaves nothing behind, except that a killed process
 * of a detached sandbox may still be dying, and its cgroup with it. -EEXIST: a detached sandbox of that id exists. */
int jail_start(const JailSpec *spec, const int stdio[static 3], JailMain main, void *arg, Jail *ret, Error *reterr);

/* As channel_receive(). */
int jail_receive(Jail *j, int flags, WireMessage *ret, int *ret_fd);

int jail_kill(Jail *j);

/* The counters cost a dozen reads: pass NULL if they are not needed. */
int jail_finish(Jail *j, JailUsage *ret);

/* Releases the structure without ending the sandbox. */
void jail_release(Jail *j);
