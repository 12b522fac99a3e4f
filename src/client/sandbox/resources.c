#include "client/sandbox/resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/human.h"
#include "client/sandbox/listing.h"

const char *const resources_heads[] = {
        "SANDBOX", "STATUS", ">CPU%", ">MEMORY", ">LIMIT", ">DISK", ">PIDS", ">NET IN", ">NET OUT", ">CPU TIME", ">OPERATIONS", NULL,
};

void resources_done(Resources *r) {
        free(r->label);
        free(r->id);
        free(r->status);
        *r = (Resources) { 0 };
}

int resources_read(const json_t *sandbox, const json_t *resources, Resources *ret) {
        Resources r = {
                .label = strdup(sandbox_label(sandbox)),
                .id = strdup(json_get_text_or(sandbox, "id", "")),
                .status = strdup(json_get_text_or(sandbox, "status", "")),
                .cpu_percent = json_get_number(resources, "cpu_percent", -1),
                .memory_mb = json_get_number(resources, "memory_mb", -1),
                .limit_mb = json_get_number(json_object_get(sandbox, "limits"), "memoryMB", -1),
                .disk_mb = json_get_number(resources, "disk_mb", -1),
                .pids = json_get_number(resources, "pids", -1),
                .rx_mb = json_get_number(resources, "network_rx_mb", -1),
                .tx_mb = json_get_number(resources, "network_tx_mb", -1),
                .cpu_time_ms = json_get_number(resources, "cpu_time_ms", -1),
                .operations = json_get_number(resources, "operations", -1),
        };

        if (!r.label || !r.id || !r.status) {
                resources_done(&r);
                return -ENOMEM;
        }
        *ret = r;
        return 0;
}

static void resources_cell_megabytes(Table *t, double megabytes) {
        char text[HUMAN_MAX];

        table_cell(t, megabytes >= 0 ? human_megabytes(megabytes, text) : NULL);
}

static void resources_cell_count(Table *t, double n) {
        if (n >= 0)
                table_cell_format(t, "%.0f", n);
        else
                table_cell(t, NULL);
}

void resources_row(Table *t, const Resources *r) {
        char text[HUMAN_MAX];

        table_cell(t, r->label);
        table_cell_colour(t, r->status, colour_of_status(r->status));
        if (r->cpu_percent >= 0)
                table_cell_format(t, "%.1f", r->cpu_percent);
        else
                table_cell(t, NULL);
        resources_cell_megabytes(t, r->memory_mb);
        resources_cell_megabytes(t, r->limit_mb);
        resources_cell_megabytes(t, r->disk_mb);
        resources_cell_count(t, r->pids);
        resources_cell_megabytes(t, r->rx_mb);
        resources_cell_megabytes(t, r->tx_mb);
        table_cell(t, r->cpu_time_ms >= 0 ? human_span((usec_t) (r->cpu_time_ms * 1000), text) : NULL);
        resources_cell_count(t, r->operations);
}
