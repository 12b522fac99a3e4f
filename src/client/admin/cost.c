/* cove cost: resource usage and its cost. */

#include <stdio.h>

#include "client/ask.h"
#include "client/verbs.h"

static const Option cost_options[] = {
        { "by",    0,   "GROUP", "sandbox, task, agentType (default) or tenant",                      QUERY_TEXT("by")               },
        { "from",  0,   "TIME", "start: 24h (default) ago, or a time as in\n2026-01-31T12:00:00Z", QUERY_AGO("from")              },
        { "to",    0,   "TIME", "end (default: now)",                                          QUERY_AGO("to")                },
        { "limit", 'n', "N",    "only the N most expensive (default 100)",                            QUERY_NUMBER("limit", 1, 1000) },
};

#define NOTHING_IS(text) .otherwise = (text)

static void cost_show(const json_t *cost, const char *word) {
        char money[32];
        const Column columns[] = {
                { "KEY", "key", NOTHING_IS("(none)") },
                { ">SANDBOXES", "sandboxes", cell_count },
                { ">LIFETIME", "lifetimeSeconds", cell_span, NOTHING_IS("0ms"), .scale = 1e6 },
                { ">CPU-S", "cpuSeconds", cell_number, NOTHING_IS("0.000"), .digits = 3 },
                { ">GB-S", "memoryGBSeconds", cell_number, NOTHING_IS("0.000"), .digits = 3 },
                { ">EGRESS", "egressBytes", cell_size },
                { money, "cost", cell_number, NOTHING_IS("0.0000"), .digits = 4 },
        };
        _cleanup_json_ json_t *rows = json_copy(json_object_get(cost, "items")), *total = json_copy(json_object_get(cost, "total"));

        (void) snprintf(money, sizeof(money), ">%s", json_get_text_or(json_object_get(cost, "prices"), "currency", "COST"));
        if (total)
                (void) json_object_set_new(total, "key", json_stringn("total", 5));
        (void) json_array_append(rows, total);
        (void) columns_show(columns, ELEMENTSOF(columns), rows);
}

const Verb command_cost = {
        .synopsis = "cost [options]",
        .about = "Shows the usage of sandboxes, and its cost at the prices of the configuration.",
        VERB_OPTIONS(cost_options), .path = "/api/cost", .show = cost_show,
};
