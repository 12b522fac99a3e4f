/* cove pool: the state of the warm pools. */

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/verbs.h"

#define INTERVAL_DEFAULT 2 /* seconds */

static const Option pool_options[] = {
        { "watch", 'w', NULL, "repeat every two seconds, until Ctrl-C",                  OPTION_OWN },
        { "drain", 0,   NULL, "remove the ready sandboxes, so that new ones are created", OPTION_OWN },
};

static void cell_error(Table *t, const json_t *pool, const Column *c) {
        table_cell_colour(t, json_get_text(pool, c->key), COLOUR_RED);
}

#define MILLISECONDS cell_number, .digits = 2, .unit = "ms"

static const Column pool_columns[] = {
        { "TEMPLATE", "template" },
        { "PROFILE", "profile" },
        { ">READY", "idle", cell_of, .unit = "target" },
        { ">MAKING", "preparing", cell_count },
        { ">IN USE", "inUse", cell_count },
        { ">HITS", "hitRate", cell_number, .scale = 100, .digits = 1, .unit = "%" },
        { ">P50", "claimP50Ms", MILLISECONDS },
        { ">P99", "claimP99Ms", MILLISECONDS },
        { ">CLAIMED", "acquired", cell_count },
        { ">MISSED", "missed", cell_count },
        { ">MADE", "created", cell_count },
        { ">ENDED", "destroyed", cell_count },
        { ">FAILED", "failed", cell_count },
        { "LAST ERROR", "lastError", cell_error },
};

static void pool_show(const json_t *answer, const char *word) {
        const json_t *pools = json_object_get(answer, "pools");
        int64_t waiting = json_get_integer(answer, "waiting", 0);

        if (json_array_size(pools) == 0)
                puts("no pools: name some in the section pools of cove.yaml");
        else if (columns_show(pool_columns, ELEMENTSOF(pool_columns), pools) == 0 && waiting > 0)
                printf("%lld %s for a place\n", (long long) waiting, waiting == 1 ? "caller waits" : "callers wait");
}

static void pool_show_drained(const json_t *answer, const char *word) {
        printf("%lld\n", json_count(answer, "drained"));
}

static const Verb drain_verb = { .method = "POST", .path = "/api/pool/drain", .show = pool_show_drained };

/* --watch: until a signal ends the client, or the daemon no longer answers. */
static int pool_verb_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        int status;

        if (common_said(o, "drain"))
                return ask_as(&drain_verb, place, options, words);
        for (;;) {
                if (common_said(o, "watch") && isatty(STDOUT_FILENO) && !o->json)
                        printf("\033[H\033[J");
                status = ask_run(place, options, words);
                if (!common_said(o, "watch") || status != 0 || fflush(stdout) != 0)
                        return status;
                (void) nanosleep(&(struct timespec) { .tv_sec = INTERVAL_DEFAULT }, NULL);
        }
}

const Verb command_pool = {
        .synopsis = "pool [options]",
        .about = "Shows the pools of sandboxes created ahead of demand: how many are ready, and how many\n"
                 "requests found one.",
        VERB_OPTIONS(pool_options), .run = pool_verb_run, .path = "/api/pool", .show = pool_show,
};
