/* resources.h: what sandboxes use, as rows of a table. For `cove stats` and `cove top`. */
#pragma once

#include "client/client.h"
#include "client/table.h"

typedef struct Resources {
        char *label, *id, *status;
        double cpu_percent, memory_mb, limit_mb, disk_mb, pids; /* negative: the host cannot tell */
        double rx_mb, tx_mb, cpu_time_ms, operations;
} Resources;

void resources_done(Resources *r);

/* Out of a sandbox object and the daemon's answer about its resources. */
int resources_read(const json_t *sandbox, const json_t *resources, Resources *ret);

extern const char *const resources_heads[];
void resources_row(Table *t, const Resources *r);
