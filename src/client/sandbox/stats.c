/* cove stats: counts of the daemon, or the resource usage of sandboxes. */

#include <stdio.h>
#include <string.h>

#include "client/ask.h"
#include "client/sandbox/resources.h"
#include "client/verbs.h"

/* "total_created" reads better as "total created". */
static void stats_show_counts(const json_t *counts, const char *word) {
        const char *key;
        json_t *value;

        json_object_foreach((json_t *) counts, key, value) {
                char words[32];

                (void) snprintf(words, sizeof(words), "%s", key);
                for (char *p = words; (p = strchr(p, '_'));)
                        *p = ' ';
                printf("%-20s %10lld\n", words, (long long) json_integer_value(value));
        }
}

static int stats_add(const Place *place, const char *word, Table *t) {
        _cleanup_answer_ Answer sandbox = { 0 }, resources = { 0 };
        _cleanup_json_ json_t *row = NULL;

        if (client_need_path(place, /* body= */ NULL, &sandbox, "/api/sandbox/%s", word) < 0 ||
            client_need_path(place, /* body= */ NULL, &resources, "/api/sandbox/%s/resources", word) < 0)
                return EXIT_OWN_FAILURE;
        row = resources_row(sandbox.json, resources.json);
        columns_add(t, resources_columns, RESOURCES_COLUMNS, row);
        return 0;
}

static const Verb resources_verb = { .path = "/api/sandbox/%/resources", .each = true };

static int stats_run(const Place *place, void *options, const Operands *words) {
        Common *c = options;
        _cleanup_table_ Table *t = NULL;
        int status = 0;

        if (words->n == 0)
                return ask_run(place, c, words);
        if (c->json)
                return ask_as(&resources_verb, place, c, words);
        t = columns_table(resources_columns, RESOURCES_COLUMNS);
        for (unsigned i = 0; i < words->n; i++)
                if (stats_add(place, words->items[i], t) != 0)
                        status = EXIT_OWN_FAILURE;
        return table_finish(t) != 0 ? EXIT_OWN_FAILURE : status;
}

const Verb command_stats = {
        .synopsis = "stats [SANDBOX…] [options]",
        .about = "Counts the daemon's sandboxes and commands; with SANDBOX, shows the usage of each of them.",
        .operands_max = VERB_ANY_NUMBER, .run = stats_run, .path = "/api/sandbox/stats", .show = stats_show_counts,
};
