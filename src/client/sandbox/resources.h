/* resources.h: resource usage of sandboxes as table rows. For `cove stats` and `cove top`. */
#pragma once

#include "client/client.h"
#include "client/column.h"

#define RESOURCES_COLUMNS 11
extern const Column resources_columns[RESOURCES_COLUMNS];

/* {"sandbox": …, "resources": …}: a row, from a sandbox object and the daemon's answer about its resources.
 * NULL: out of memory. */
json_t *resources_row(const json_t *sandbox, const json_t *resources);
