/* native.h: sandboxes in the kernel of this host.
 *
 * Asks cove-spawner to create sandboxes, and talks to the PID 1 inside each. After a restart it finds them
 * again by their sockets in the run directory. Messages from both sides are checked; those from inside are
 * hostile.
 * Must not know: the store, who asked, HTTP. */
#pragma once

#include <systemd/sd-event.h>

#include "base/error.h"
#include "core/provider.h"
#include "core/settle.h"

typedef struct NativeConfig {
        int spawner_fd;       /* the channel; ownership is taken */
        const char *run_dir;  /* directory of the sockets */
        Settle *settle;       /* NULL: every message is sent at once */
        usec_t helper_timeout_usec; /* limit for the spawner's silence; 0: not watched */
        const char *instance; /* part of the names of our kernel objects */
        bool privileged;      /* the spawner is root, and we are not */
        uint64_t allow_missing;
} NativeConfig;

int native_new(sd_event *event, const NativeConfig *config, Provider **ret, Error *reterr);
