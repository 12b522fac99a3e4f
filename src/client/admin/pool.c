/* cove pool: how the warm pools are doing. */

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "client/client.h"
#include "client/human.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

#define INTERVAL_DEFAULT (2 * USEC_PER_SEC)

typedef struct PoolOptions {
        Common common;
        bool watch, drain;
} PoolOptions;

APPLY_FLAG(PoolOptions, watch)
APPLY_FLAG(PoolOptions, drain)

static const Option pool_options[] = {
        { "watch", 'w', NULL, "again every two seconds, until Ctrl-C",                 apply_watch },
        { "drain", 0,   NULL, "end those that stand ready, so that they are made anew", apply_drain },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "pool [options]",
        .about = "Shows the sandboxes that were made ahead of demand, by pool: how many stand ready, how many\n"
                 "callers found one.",
        USAGE_OPTIONS(pool_options),
};

static void cell_milliseconds(Table *t, const json_t *pool, const char *key) {
        if (json_has(pool, key))
                table_cell_format(t, "%.2fms", json_get_number(pool, key, 0));
        else
                table_cell(t, NULL);
}

static void client_pool_cell_count(Table *t, const json_t *pool, const char *key) {
        table_cell_format(t, "%lld", (long long) json_get_integer(pool, key, 0));
}

static void client_pool_add_row(Table *t, const json_t *pool) {
        const char *error = json_get_text(pool, "lastError");

        table_cell(t, json_get_text(pool, "template"));
        table_cell(t, json_get_text(pool, "profile"));
        table_cell_format(t, "%lld/%lld", (long long) json_get_integer(pool, "idle", 0),
                        (long long) json_get_integer(pool, "target", 0));
        client_pool_cell_count(t, pool, "preparing");
        client_pool_cell_count(t, pool, "inUse");
        if (json_has(pool, "hitRate"))
                table_cell_format(t, "%.1f%%", 100 * json_get_number(pool, "hitRate", 0));
        else
                table_cell(t, NULL);
        cell_milliseconds(t, pool, "claimP50Ms");
        cell_milliseconds(t, pool, "claimP99Ms");
        client_pool_cell_count(t, pool, "acquired");
        client_pool_cell_count(t, pool, "missed");
        client_pool_cell_count(t, pool, "created");
        client_pool_cell_count(t, pool, "destroyed");
        client_pool_cell_count(t, pool, "failed");
        table_cell_colour(t, error, COLOUR_RED);
}

static int client_pool_print_table(const Answer *a) {
        static const char *const heads[] = { "TEMPLATE", "PROFILE", ">READY", ">MAKING", ">IN USE", ">HITS", ">P50", ">P99",
                                             ">CLAIMED", ">MISSED", ">MADE", ">ENDED", ">FAILED", "LAST ERROR", NULL };
        const json_t *pools = json_object_get(a->json, "pools"), *pool;
        _cleanup_table_ Table *t = table_new(heads);
        TableLook look = table_look(STDOUT_FILENO);
        int64_t waiting = json_get_integer(a->json, "waiting", 0);
        size_t i;

        if (json_array_size(pools) == 0) {
                puts("no pools: name some in the section pools of cove.yaml");
                return 0;
        }
        json_array_foreach(pools, i, pool)
                if (t)
                        client_pool_add_row(t, pool);
        if (!t || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        if (waiting > 0)
                printf("%lld %s for a place\n", (long long) waiting, waiting == 1 ? "caller waits" : "callers wait");
        return 0;
}

static int client_pool_show(const Place *place, const PoolOptions *o) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/pool");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (!o->common.json)
                return client_pool_print_table(&a);
        answer_print(&a);
        return 0;
}

static int client_pool_drain(const Place *place, const PoolOptions *o) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/pool/drain");
        if (client_need(place, "POST", &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                printf("%lld\n", (long long) json_get_integer(a.json, "drained", 0));
        return 0;
}

/* Until somebody ends us, or the daemon does not answer any more. */
static int client_pool_watch(const Place *place, const PoolOptions *o) {
        const struct timespec pause = { .tv_sec = INTERVAL_DEFAULT / USEC_PER_SEC };
        bool clear = isatty(STDOUT_FILENO) && !o->common.json;
        int status;

        for (;;) {
                if (clear)
                        printf("\033[H\033[J");
                status = client_pool_show(place, o);
                if (status != 0 || fflush(stdout) != 0)
                        return status;
                (void) nanosleep(&pause, NULL);
        }
}

int verb_pool(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        PoolOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        if (o.drain)
                return client_pool_drain(&place, &o);
        return o.watch ? client_pool_watch(&place, &o) : client_pool_show(&place, &o);
}
