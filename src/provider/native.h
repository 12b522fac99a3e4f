/* native.h: sandboxes of this host's own kernel.
 *
 * Asks cove-spawner for walls and speaks to the PID 1 inside each sandbox. After a restart it finds them again by their
 * sockets in the run directory. What comes from either side is checked; what comes from inside is hostile.
 * Must not know: the store, who asked, HTTP. */
#pragma once

#include <systemd/sd-event.h>

#include "base/error.h"
#include "core/provider.h"

typedef struct NativeConfig {
        int spawner_fd;       /* the channel; taken */
        const char *run_dir;  /* where the sockets lie */
        usec_t helper_timeout_usec; /* so long the spawner may be silent; 0: nobody looks */
        const char *instance; /* in the names of our kernel objects */
        bool privileged;      /* the spawner is root, and we are not */
        uint64_t allow_missing;
} NativeConfig;

int native_new(sd_event *event, const NativeConfig *config, Provider **ret, Error *reterr);
