/* cove cleanup, cove reconcile: cleans up at once, and shows the result for each item. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

#define EXIT_LEFT 1 /* some could not be cleaned up */

static const Option cleanup_options[] = {
        { "dry-run",   'n', NULL,   "only show what would be removed",                                   QUERY_TRUE("dryRun")                   },
        { "emergency", 0,   NULL,   "end every sandbox that is not critical",                    OPTION_OWN },
        { "older",     0,   "TIME", "remove all sandboxes older than this, plain ones too, as\nin 10m", QUERY_SECONDS("maxAgeSeconds")  },
        { "status",    0,   NULL,   "show the state and the last results of the daemon's cleaners", OPTION_OWN },
};

static const Option reconcile_options[] = {
        { "dry-run", 'n', NULL, "only show the differences", QUERY_TRUE("dryRun") },
};

/* ✓ or ✗, and the item. */
static void client_cleanup_print_item(const json_t *item) {
        const char *outcome = json_get_text_or(item, "outcome", "?"), *error = json_get_text(item, "error");
        bool good = strcmp(outcome, "failed") != 0, found = strcmp(outcome, "found") == 0, colours = colours_wanted(STDOUT_FILENO);
        _cleanup_free_ char *id = human_clean(json_get_text_or(item, "id", "?"));
        _cleanup_free_ char *why = human_clean(error ? error : json_get_text_or(item, "reason", ""));

        printf("%s%s%s %s%s (%s)\n", colours ? colour_on(good ? COLOUR_GREEN : COLOUR_RED) : "", good ? (found ? "•" : "✓") : "✗",
                        colours ? colour_off() : "", id ? id : "?", found ? " would go" : good ? "" : " failed", why ? why : "");
}

static void cleanup_report(const json_t *report, const char *done) {
        const json_t *counts = json_object_get(report, "counts"), *item;
        const char *error = json_get_text(report, "error");
        long long removed = json_count(counts, "removed"), failed = json_count(counts, "failed");
        size_t i;

        json_array_foreach(json_object_get(report, "items"), i, item)
                client_cleanup_print_item(item);
        if (json_get_bool(report, "dryRun"))
                printf("%lld found, nothing was done: a dry run\n", json_count(counts, "found"));
        else
                printf("%s: %lld removed, %lld failed, %lld scanned in %.1f ms\n", done, removed, failed,
                                json_count(counts, "scanned"), json_get_number(report, "durationMs", 0));
        if (error)
                log_error("%s", error);
}

/* The last step of the procedure: how many there are now. */
static void cleanup_show_stats(const Place *place) {
        _cleanup_answer_ Answer a = { 0 };

        if (client_need_path(place, /* body= */ NULL, &a, "/api/sandbox/stats") >= 0)
                printf("Now: %lld active, %lld provisioning, %lld terminating, %lld ended\n",
                                json_count(a.json, "active"), json_count(a.json, "provisioning"),
                                json_count(a.json, "terminating"), json_count(a.json, "ended"));
}

static int cleanup_run(const Place *place, void *options, const Operands *words) {
        const Common *c = options;
        _cleanup_answer_ Answer a = { 0 };

        if (ask_need(place, options, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (c->json)
                answer_print(&a);
        else {
                cleanup_report(a.json, strcmp(c->verb->name, "reconcile") == 0 ? "Reconciled" : "Cleanup completed");
                cleanup_show_stats(place);
        }
        return json_get_bool(a.json, "ok") ? 0 : EXIT_LEFT;
}

/* The cleaners themselves. */

static void cell_interval(Table *t, const json_t *layer, const Column *c) {
        char span[HUMAN_MAX];

        table_cell(t, json_get_bool(layer, "enabled") ? human_span((usec_t) (json_get_number(layer, c->key, 0) * 1e6), span) : "off");
}

static void cell_last(Table *t, const json_t *layer, const Column *c) {
        const char *error = json_get_text(layer, "error");
        bool ok = json_get_bool(layer, "lastOk");

        table_cell_colour(t, error ? error : ok ? "ok" : "failed", ok ? COLOUR_GREEN : COLOUR_RED);
}

static const Column layer_columns[] = {
        { "LAYER", "layer" },
        { ">EVERY", "intervalSeconds", cell_interval },
        { "LAST RUN", "lastRun" },
        { ">TOOK", "lastDurationMs", cell_number, .otherwise = "0.0ms", .digits = 1, .unit = "ms" },
        { ">NEXT IN", "nextRunInSeconds", cell_span, .scale = 1e6 },
        { ">SUCCESS", "successRate", cell_number, .scale = 100, .unit = "%" },
        { "RESULT", "error", cell_last },
};

static void cleanup_show_status(const json_t *answer, const char *word) {
        bool healthy = json_get_bool(answer, "healthy");

        if (columns_show(layer_columns, ELEMENTSOF(layer_columns), json_object_get(answer, "layers")) == 0)
                human_line("%s %s", healthy ? "✓" : "✗", healthy ? "the cleaners are well" : json_get_text_or(answer, "message", "the cleaners are not well"));
}

static const Verb cleanup_status_verb = {
        .path = "/api/sandbox/cleanup", .show = cleanup_show_status, .good = "healthy"
};
static const Verb cleanup_emergency_verb = { .name = "cleanup", .method = "POST", .path = "/api/sandbox/cleanup/emergency" };

static int cleanup_choose(const Place *place, void *options, const Operands *words) {
        Common *o = options;

        if (common_said(o, "status")) {
                strv_done(&o->queries);
                return ask_as(&cleanup_status_verb, place, o, words);
        }
        if (common_said(o, "emergency") && common_query(o, "maxAgeSeconds"))
                return verb_refuse("--older and --emergency: an emergency does not ask for the age; leave one of them out");
        if (common_said(o, "emergency"))
                o->verb = &cleanup_emergency_verb;
        return cleanup_run(place, o, words);
}

const Verb command_cleanup = {
        .name = "cleanup",
        .synopsis = "cleanup [options]",
        .about = "Removes broken, abandoned and expired sandboxes and records now, as the daemon also does\n"
                 "every few minutes. Exit status 1: something could not be cleaned up.",
        .more = "Example: cove cleanup --dry-run",
        VERB_OPTIONS(cleanup_options), .run = cleanup_choose, .method = "POST", .path = "/api/sandbox/cleanup",
};

const Verb command_reconcile = {
        .name = "reconcile",
        .synopsis = "reconcile [options]",
        .about = "Compares the daemon's records with the kernel, and makes them agree:\n"
                 "records without a sandbox are ended, sandboxes and files without a record are removed.",
        .more = "`cove audit` only compares.",
        VERB_OPTIONS(reconcile_options), .run = cleanup_run, .method = "POST", .path = "/api/sandbox/reconcile",
};
