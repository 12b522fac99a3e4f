/* serve-daemon.h: the daemon that is measured: started, killed, started again, looked at from outside.
 *
 * Its state lies in the scratch directory; what it makes in the kernel carries an instance name that we choose, so that the
 * caretaker can take it away whatever happens.
 * Must not know: what is measured. */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"

#define SERVE_INSTANCE_LENGTH 8

typedef struct ServeDaemon {
        const char *cove; /* the program */
        char instance[SERVE_INSTANCE_LENGTH + 1];
        char state[96], socket_path[112], log_path[112];
        char config_path[112]; /* "": none */
        unsigned files; /* that it may open, and root cannot raise it; 0: as we may */
        pid_t pid;      /* 0: not running */
} ServeDaemon;

/* Hundredths of a second of CPU. */
typedef struct ServeTicks {
        uint64_t coved, spawner, others; /* spawner: with the keeper; others: gate, helpers */
} ServeTicks;

/* Chooses the instance's name: before scratch_run(), so that all processes of it know. */
int serve_daemon_init(ServeDaemon *d, const char *cove);

/* For the next start. */
int serve_daemon_configure(ServeDaemon *d, const char *scratch_dir, const char *text);
int serve_daemon_start(ServeDaemon *d, const char *scratch_dir, Error *reterr);
/* Until it has taken stock and answers. */
int serve_daemon_wait(const ServeDaemon *d, Error *reterr);
void serve_daemon_kill(ServeDaemon *d);
/* Ends it and all its sandboxes. */
int serve_daemon_stop(ServeDaemon *d, Error *reterr);

/* What coved and its helpers have used so far. */
int serve_daemon_ticks(const ServeDaemon *d, ServeTicks *ret);
/* Resident bytes of coved. */
int serve_daemon_memory(const ServeDaemon *d, uint64_t *ret);
/* Bytes that the memory groups of all its sandboxes are charged with; -EOPNOTSUPP without such groups. */
int serve_daemon_charged(const ServeDaemon *d, uint64_t *ret);

/* What is left in the cgroup tree after all processes are dead. */
void serve_daemon_sweep(const ServeDaemon *d);
