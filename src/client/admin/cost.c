/* cove cost: what was used, and what it costs. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "client/client.h"
#include "client/human.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct CostOptions {
        Common common;
        const char *by, *from, *to;
        uint64_t limit;
} CostOptions;

APPLY_TEXT(CostOptions, by)
APPLY_TEXT(CostOptions, from)
APPLY_TEXT(CostOptions, to)

static int cost_apply_limit(void *target, const char *value, Error *reterr) {
        return value_number("--limit", value, 1, 1000, &((CostOptions *) target)->limit, reterr);
}

static const Option cost_options[] = {
        { "by",    0,   "WHAT", "sandbox, task, agentType (default) or tenant",            apply_by    },
        { "from",  0,   "TIME", "since when: 24h (default), or a time as in\n2026-01-31T12:00:00Z", apply_from },
        { "to",    0,   "TIME", "until when (default: now)",                               apply_to    },
        { "limit", 'n', "N",    "only the N most expensive (default 100)",                 cost_apply_limit },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "cost [options]",
        .about = "Shows what sandboxes have used, and what that costs at the prices of the configuration.",
        USAGE_OPTIONS(cost_options),
};

/* "24h" is a number of seconds ago; a time is left to the daemon. */
static void cost_put_time(Url *u, const char *name, const char *value) {
        usec_t ago;

        if (value && parse_duration(value, &ago) >= 0)
                url_query_number(u, name, ago / USEC_PER_SEC);
        else
                url_query(u, name, value);
}

static void cost_add_row(Table *t, const char *key, const json_t *item) {
        char text[HUMAN_MAX];

        table_cell(t, key);
        table_cell_format(t, "%lld", (long long) json_get_integer(item, "sandboxes", 0));
        table_cell(t, human_span((usec_t) (json_get_number(item, "lifetimeSeconds", 0) * USEC_PER_SEC), text));
        table_cell_format(t, "%.3f", json_get_number(item, "cpuSeconds", 0));
        table_cell_format(t, "%.3f", json_get_number(item, "memoryGBSeconds", 0));
        table_cell(t, human_size(json_get_number(item, "egressBytes", 0), text));
        table_cell_format(t, "%.4f", json_get_number(item, "cost", 0));
}

static int cost_show(const json_t *cost) {
        char money[32];
        const char *heads[] = { "KEY", ">SANDBOXES", ">LIFETIME", ">CPU-S", ">GB-S", ">EGRESS", money, NULL };
        _cleanup_table_ Table *t = NULL;
        TableLook look = table_look(STDOUT_FILENO);
        const json_t *item;
        size_t i;

        (void) snprintf(money, sizeof(money), ">%s", json_get_text_or(json_object_get(cost, "prices"), "currency", "COST"));
        t = table_new(heads);
        json_array_foreach(json_object_get(cost, "items"), i, item)
                cost_add_row(t, json_get_text_or(item, "key", "(none)"), item);
        cost_add_row(t, "total", json_object_get(cost, "total"));
        if (!t || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return 0;
}

int verb_cost(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        CostOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        url_begin(&u, "/api/cost");
        url_query(&u, "by", o.by);
        cost_put_time(&u, "from", o.from);
        cost_put_time(&u, "to", o.to);
        if (o.limit != 0)
                url_query_number(&u, "limit", o.limit);
        if (client_need(&place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (!o.common.json)
                return cost_show(a.json);
        answer_print(&a);
        return 0;
}
