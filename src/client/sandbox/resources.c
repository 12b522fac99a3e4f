#include "client/sandbox/resources.h"

#include "client/sandbox/listing.h"

static void cell_sandbox(Table *t, const json_t *row, const Column *c) {
        table_cell_id(t, sandbox_label(json_object_get(row, c->key)));
}

const Column resources_columns[RESOURCES_COLUMNS] = {
        { "SANDBOX", "sandbox", cell_sandbox },
        { "STATUS", "sandbox.status", cell_status },
        { ">CPU%", "resources.cpu_percent", cell_number, .digits = 1 },
        { ">MEMORY", "resources.memory_mb", cell_megabytes },
        { ">LIMIT", "sandbox.limits.memoryMB", cell_megabytes },
        { ">DISK", "resources.disk_mb", cell_megabytes },
        { ">PIDS", "resources.pids", cell_number },
        { ">NET IN", "resources.network_rx_mb", cell_megabytes },
        { ">NET OUT", "resources.network_tx_mb", cell_megabytes },
        { ">CPU TIME", "resources.cpu_time_ms", cell_span, .scale = 1000 },
        { ">OPERATIONS", "resources.operations", cell_number },
};

json_t *resources_row(const json_t *sandbox, const json_t *resources) {
        return json_pack("{s:O,s:O}", "sandbox", sandbox, "resources", resources);
}
