/* cove stats: counts of the daemon, or what some sandboxes use. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/sandbox/resources.h"
#include "client/sandbox/several.h"
#include "client/verbs.h"

typedef struct StatsOptions {
        Common common;
} StatsOptions;

static const Option stats_options[] = { COMMON_OPTIONS };

static const Usage usage = {
        .synopsis = "stats [SANDBOX…] [options]",
        .about = "Counts the daemon's sandboxes and commands; with SANDBOX, shows what each of them uses.",
        USAGE_OPTIONS(stats_options),
        .operands_max = USAGE_ANY_NUMBER,
};

/* "total_created" reads better as "total created". */
static void stats_print_count(const char *key, const json_t *value) {
        char words[32];

        (void) snprintf(words, sizeof(words), "%s", key);
        for (char *p = words; *p; p++)
                if (*p == '_')
                        *p = ' ';
        printf("%-20s %10lld\n", words, (long long) json_integer_value(value));
}

static int stats_count(const Place *place, const StatsOptions *o) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        const char *key;
        json_t *value;

        url_begin(&u, "/api/sandbox/stats");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                json_object_foreach(a.json, key, value)
                        stats_print_count(key, value);
        return 0;
}

static int stats_add_row(const Place *place, const char *word, Table *t) {
        _cleanup_answer_ Answer sandbox = { 0 }, resources = { 0 };
        _cleanup_(resources_done) Resources row = { 0 };
        _cleanup_url_ Url u = { 0 };
        int r;

        url_sandbox(&u, word, /* what= */ NULL);
        r = client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &sandbox);
        if (r < 0)
                return r;
        url_sandbox(&u, word, "resources");
        r = client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &resources);
        if (r < 0)
                return r;
        r = resources_read(sandbox.json, resources.json, &row);
        if (r >= 0)
                resources_row(t, &row);
        return r;
}

static int stats_show(const Place *place, const Operands *words) {
        _cleanup_table_ Table *t = table_new(resources_heads);
        TableLook look = table_look(STDOUT_FILENO);
        int status = 0;

        for (unsigned i = 0; t && i < words->n; i++)
                if (stats_add_row(place, words->items[i], t) < 0)
                        status = EXIT_OWN_FAILURE;
        if (!t || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return status;
}

int verb_stats(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        StatsOptions o = { 0 };
        Several several = { .place = &place, .what = "resources", .json = true };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        if (words.n == 0)
                return stats_count(&place, &o);
        return o.common.json ? several_ask(&several, words.items, words.n) : stats_show(&place, &words);
}
