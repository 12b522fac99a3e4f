/* rooms.h: opens the rooms beside the core in order, and connects them.
 *
 * Rooms know the core but not each other: metrics, alerts and cleaners are connected here.
 * Must not know: HTTP, options, privilege. */
#pragma once

#include "api/api.h"
#include "config/config.h"
#include "daemon/agent-metrics.h"
#include "observe/lifelog.h"

typedef struct Rooms {
        Manager *manager;        /* borrowed; has a provider */
        Config **settings;       /* the caller's variable: a reload replaces the settings in it */
        const char *config_file; /* NULL: no file to reload */
        const char *run_dir;     /* directory of sockets */

        int secret_key_fd;       /* ownership is taken; -EBADF: the key is in its file */
        const Strv *environment; /* secrets from the daemon's own environment */

        struct Outbound *outbound, *callers; /* callers: for destinations that callers name, with their own limit on connections */
        struct Deliveries *deliveries;       /* through callers */
        struct Pools *pools;
        Lifelog lifelog;
        AgentMetrics agent_metrics;
        ApiRooms api; /* the rooms that surfaces use */
} Rooms;

int rooms_open(Rooms *r, Error *reterr);
void rooms_close(Rooms *r); /* also after a failed rooms_open() */
