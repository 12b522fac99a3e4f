/* rooms.h: what works beside the core, opened in order, and connected where one tells another.
 *
 * Rooms know the core and not each other: who counts, who alerts and who cleans up meets here.
 * Must not know: HTTP, options, privilege. */
#pragma once

#include "api/api.h"
#include "config/config.h"
#include "daemon/agent-metrics.h"
#include "observe/lifelog.h"

typedef struct Rooms {
        Manager *manager;        /* the caller's, with a provider */
        Config **settings;       /* where the caller keeps them: reading them again puts others there */
        const char *config_file; /* NULL: there is none to be read again */
        const char *run_dir;     /* of sockets */

        int secret_key_fd;       /* taken; -EBADF: the key is in its file */
        const Strv *environment; /* secrets of the daemon's own environment */

        struct Outbound *outbound, *callers; /* the second: to where callers want to be told */
        struct Deliveries *deliveries;       /* by the second */
        struct Pools *pools;
        Lifelog lifelog;
        AgentMetrics agent_metrics;
        ApiRooms api; /* those that surfaces speak to */
} Rooms;

int rooms_open(Rooms *r, Error *reterr);
void rooms_close(Rooms *r); /* also what was opened half */
