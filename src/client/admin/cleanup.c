/* cove cleanup, cove reconcile: a clean-up now, and what became of each item. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/client.h"
#include "client/human.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

#define EXIT_LEFT 1 /* some could not be cleaned up */

typedef struct CleanupOptions {
        Common common;
        bool dry_run, emergency, status;
        const char *older;
} CleanupOptions;

APPLY_FLAG(CleanupOptions, dry_run)
APPLY_FLAG(CleanupOptions, emergency)
APPLY_FLAG(CleanupOptions, status)
APPLY_TEXT(CleanupOptions, older)

static const Option cleanup_options[] = {
        { "dry-run",   'n', NULL,   "only tell what would go",                                     apply_dry_run   },
        { "emergency", 0,   NULL,   "end every sandbox that is not critical",                      apply_emergency },
        { "older",     0,   "TIME", "everything older than this goes, plain sandboxes too, as\nin 10m", apply_older },
        { "status",    0,   NULL,   "how the cleaners do by themselves, and what they did last",   apply_status    },
        COMMON_OPTIONS,
};

static const Option reconcile_options[] = {
        { "dry-run", 'n', NULL, "only tell what does not agree", apply_dry_run },
        COMMON_OPTIONS,
};

static const Usage cleanup_usage = {
        .synopsis = "cleanup [options]",
        .about = "Cleans up now what is broken, left behind or over: what the daemon also does by itself\n"
                 "every few minutes. Exit status 1: something could not be cleaned up.",
        .more = "Example: cove cleanup --dry-run",
        USAGE_OPTIONS(cleanup_options),
};

static const Usage reconcile_usage = {
        .synopsis = "reconcile [options]",
        .about = "Compares what the daemon has on record with what is in the kernel, and makes them agree:\n"
                 "records without a sandbox are ended, sandboxes and files without a record are removed.",
        .more = "`cove audit` only compares.",
        USAGE_OPTIONS(reconcile_options),
};

/* ✓ and ✗, and what it was. */
static void client_cleanup_print_item(const json_t *item) {
        const char *outcome = json_get_text_or(item, "outcome", "?"), *error = json_get_text(item, "error");
        bool good = strcmp(outcome, "failed") != 0, found = strcmp(outcome, "found") == 0, colours = colours_wanted(STDOUT_FILENO);
        _cleanup_free_ char *id = human_clean(json_get_text_or(item, "id", "?"));
        _cleanup_free_ char *why = human_clean(error ? error : json_get_text_or(item, "reason", ""));

        printf("%s%s%s %s%s (%s)\n", colours ? colour_on(good ? COLOUR_GREEN : COLOUR_RED) : "", good ? (found ? "•" : "✓") : "✗",
                        colours ? colour_off() : "", id ? id : "?", found ? " would go" : good ? "" : " failed", why ? why : "");
}

static int show_report(const Answer *a, const char *done) {
        const json_t *items = json_object_get(a->json, "items"), *counts = json_object_get(a->json, "counts"), *item;
        const char *error = json_get_text(a->json, "error");
        long long removed = (long long) json_get_integer(counts, "removed", 0), failed = (long long) json_get_integer(counts, "failed", 0);
        size_t i;

        json_array_foreach(items, i, item)
                client_cleanup_print_item(item);
        if (json_get_bool(a->json, "dryRun"))
                printf("%lld found, nothing was done: a dry run\n", (long long) json_get_integer(counts, "found", 0));
        else
                printf("%s: %lld removed, %lld failed, %lld scanned in %.1f ms\n", done, removed, failed,
                                (long long) json_get_integer(counts, "scanned", 0), json_get_number(a->json, "durationMs", 0));
        if (error) {
                _cleanup_free_ char *text = human_clean(error);

                log_error("%s", text ? text : "?");
        }
        return error || failed > 0 ? EXIT_LEFT : 0;
}

/* The last step of the procedure: how many there are now. */
static void show_stats(const Place *place) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/sandbox/stats");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) >= 0)
                printf("Now: %lld active, %lld provisioning, %lld terminating, %lld ended\n",
                                (long long) json_get_integer(a.json, "active", 0), (long long) json_get_integer(a.json, "provisioning", 0),
                                (long long) json_get_integer(a.json, "terminating", 0), (long long) json_get_integer(a.json, "ended", 0));
}

static int client_cleanup_ask(const Place *place, const CleanupOptions *o, Url *u, const char *done) {
        _cleanup_answer_ Answer a = { 0 };
        int status;

        if (o->dry_run)
                url_query(u, "dryRun", "true");
        if (client_need(place, "POST", u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json) {
                answer_print(&a);
                return json_get_bool(a.json, "ok") ? 0 : EXIT_LEFT;
        }
        status = show_report(&a, done);
        show_stats(place);
        return status;
}

/* The cleaners themselves */

static void add_layer(Table *t, const json_t *layer) {
        char span[HUMAN_MAX];
        double rate = json_get_number(layer, "successRate", -1);
        const char *error = json_get_text(layer, "error");
        bool ok = json_get_bool(layer, "lastOk");

        table_cell(t, json_get_text(layer, "layer"));
        table_cell(t, json_get_bool(layer, "enabled") ? human_span((usec_t) (json_get_number(layer, "intervalSeconds", 0) * 1e6), span) : "off");
        table_cell(t, json_get_text(layer, "lastRun"));
        table_cell_format(t, "%.1fms", json_get_number(layer, "lastDurationMs", 0));
        table_cell(t, json_has(layer, "nextRunInSeconds") ? human_span((usec_t) (json_get_number(layer, "nextRunInSeconds", 0) * 1e6), span) : NULL);
        if (rate >= 0)
                table_cell_format(t, "%.0f%%", 100 * rate);
        else
                table_cell(t, NULL);
        table_cell_colour(t, error ? error : ok ? "ok" : "failed", ok ? COLOUR_GREEN : COLOUR_RED);
}

static int show_status(const Place *place, const CleanupOptions *o) {
        static const char *const heads[] = { "LAYER", ">EVERY", "LAST RUN", ">TOOK", ">NEXT IN", ">SUCCESS", "RESULT", NULL };
        TableLook look = table_look(STDOUT_FILENO);
        _cleanup_table_ Table *t = table_new(heads);
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        const json_t *layer;
        bool healthy;
        size_t i;

        url_begin(&u, "/api/sandbox/cleanup");
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        healthy = json_get_bool(a.json, "healthy");
        if (o->common.json) {
                answer_print(&a);
                return healthy ? 0 : EXIT_LEFT;
        }
        json_array_foreach(json_object_get(a.json, "layers"), i, layer)
                if (t)
                        add_layer(t, layer);
        if (!t || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        printf("%s %s\n", healthy ? "✓" : "✗", healthy ? "the cleaners are well" : json_get_text_or(a.json, "message", "the cleaners are not well"));
        return healthy ? 0 : EXIT_LEFT;
}

int verb_cleanup(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        _cleanup_url_ Url u = { 0 };
        CleanupOptions o = { 0 };
        Error error = { 0 };
        Operands words;
        usec_t older;
        int status;

        if (usage_begin(&cleanup_usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        if (o.status)
                return show_status(&place, &o);
        url_begin(&u, o.emergency ? "/api/sandbox/cleanup/emergency" : "/api/sandbox/cleanup");
        if (o.older && o.emergency) {
                log_error("--older and --emergency: an emergency does not ask for the age; leave one of them out");
                return EXIT_OWN_FAILURE;
        }
        if (o.older) {
                if (value_duration("--older", o.older, &older, &error) < 0) {
                        log_error("%s", error.text);
                        return EXIT_OWN_FAILURE;
                }
                url_query_number(&u, "maxAgeSeconds", older / USEC_PER_SEC);
        }
        return client_cleanup_ask(&place, &o, &u, "Cleanup completed");
}

int verb_reconcile(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        _cleanup_url_ Url u = { 0 };
        CleanupOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&reconcile_usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        url_begin(&u, "/api/sandbox/reconcile");
        return client_cleanup_ask(&place, &o, &u, "Reconciled");
}
