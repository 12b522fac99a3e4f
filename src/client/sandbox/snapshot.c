/* cove snapshot: what sandboxes' disks were, by name. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/sandbox/inspect.h"
#include "client/sandbox/several.h"
#include "client/sandbox/snapshot.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

typedef struct SnapshotOptions {
        Common common;
        const char *name, *comment, *sandbox;
        bool quiet;
} SnapshotOptions;

APPLY_TEXT(SnapshotOptions, name)
APPLY_TEXT(SnapshotOptions, comment)
APPLY_TEXT(SnapshotOptions, sandbox)
APPLY_FLAG(SnapshotOptions, quiet)

static const Option create_options[] = {
        { "name",    'n', "NAME", "by which it can be found again", apply_name },
        { "comment", 'c', "TEXT", "for people", apply_comment },
        COMMON_OPTIONS,
};
static const Option ls_options[] = {
        { "quiet",   'q', NULL,      "ids only", apply_quiet },
        { "sandbox", 0,   "SANDBOX", "only those of this one", apply_sandbox },
        COMMON_OPTIONS,
};
static const Option plain_options[] = { COMMON_OPTIONS };

static const Usage create_usage = {
        .synopsis = "snapshot create SANDBOX [options]",
        .about = "Keeps the files of a persistent sandbox as they are at this moment, and prints the\n"
                 "snapshot's id (its name, with --name). The sandbox stands still while it is copied,\n"
                 "which does not depend on its size.",
        .more = "Example: cove snapshot create box --name before && cove exec box -- ./try && cove restore box before",
        USAGE_OPTIONS(create_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no sandbox given",
};

static const Usage ls_usage = {
        .synopsis = "snapshot ls [options]",
        .about = "Lists the snapshots, in the order in which they were taken.",
        USAGE_OPTIONS(ls_options),
};

#define SNAPSHOTS .operands_min = 1, .operands_max = USAGE_ANY_NUMBER, .missing = "no snapshot given"

static const Usage inspect_usage = {
        .synopsis = "snapshot inspect SNAPSHOT [options]",
        .about = "Tells all about a snapshot.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no snapshot given",
};

static const Usage rm_usage = {
        .synopsis = "snapshot rm SNAPSHOT… [options]",
        .about = "Removes snapshots. Sandboxes that were made of them have a copy of their own.",
        USAGE_OPTIONS(plain_options),
        SNAPSHOTS,
};

static const Usage verify_usage = {
        .synopsis = "snapshot verify SNAPSHOT… [options]",
        .about = "Reads every byte of snapshots; exit status 1 when one is damaged.",
        USAGE_OPTIONS(plain_options),
        SNAPSHOTS,
};

static const Usage tree_usage = {
        .synopsis = "snapshot tree [options]",
        .about = "Shows which snapshots and sandboxes come from which.",
        USAGE_OPTIONS(plain_options),
};

/* The verbs. */

static int snapshot_create(const Place *place, void *options, const Operands *words) {
        const SnapshotOptions *o = options;
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_text(&body, "name", o->name);
        json_put_text(&body, "comment", o->comment);
        url_sandbox(&u, words->items[0], "snapshots");
        if (client_need(place, "POST", &u, &body, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(o->name ? o->name : json_get_text_or(a.json, "id", ""));
        return 0;
}

static void snapshot_add_row(Table *t, const json_t *n) {
        char size[HUMAN_MAX];

        table_cell(t, json_get_text(n, "id"));
        table_cell(t, json_get_text(n, "name"));
        table_cell(t, json_get_text(n, "sandbox"));
        table_cell(t, json_get_text(n, "template"));
        table_cell(t, human_size((double) json_get_integer(n, "bytes", 0), size));
        table_cell(t, json_get_text(n, "createdAt"));
        table_cell(t, strcmp(json_get_text_or(n, "status", ""), "ready") == 0 ? json_get_text(n, "comment") : "its files are gone");
}

static int snapshot_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "ID", "NAME", "SANDBOX", "TEMPLATE", ">SIZE", "TAKEN", "COMMENT", NULL };
        const SnapshotOptions *o = options;
        _cleanup_json_ json_t *all = NULL;
        _cleanup_table_ Table *t = NULL;
        TableLook look = table_look(STDOUT_FILENO);
        const json_t *n;
        size_t i;

        all = snapshots_get(place, o->sandbox);
        if (!all)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                return snapshots_print_json(all);
        if (o->quiet) {
                json_array_foreach(all, i, n)
                        puts(json_get_text_or(n, "id", ""));
                return 0;
        }
        t = table_new(heads);
        json_array_foreach(all, i, n)
                if (t)
                        snapshot_add_row(t, n);
        if (!t || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return 0;
}

static int snapshot_inspect(const Place *place, void *options, const Operands *words) {
        const SnapshotOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/snapshots");
        url_part(&u, words->items[0]);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                inspect_print(a.json);
        return 0;
}

static int remove_snapshots(const Place *place, void *options, const Operands *words) {
        const SnapshotOptions *o = options;
        Several several = { .place = place, .method = "DELETE", .what = "/api/snapshots", .root = true, .json = o->common.json };

        return several_ask(&several, words->items, words->n);
}

static int verify_one(const Place *place, const SnapshotOptions *o, const char *name) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        char size[HUMAN_MAX];

        url_begin(&u, "/api/snapshots");
        url_part(&u, name);
        url_part(&u, "verify");
        if (client_need(place, "POST", &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else if (json_get_bool(a.json, "good"))
                printf("%s: good, %s in %lld entries\n", name, human_size((double) json_get_integer(a.json, "bytes", 0), size),
                                (long long) json_get_integer(a.json, "entries", 0));
        else
                printf("%s: DAMAGED: %s\n", name, json_get_text_or(a.json, "error", "?"));
        return json_get_bool(a.json, "good") ? 0 : 1;
}

static int client_snapshot_verify(const Place *place, void *options, const Operands *words) {
        int status = 0;

        for (unsigned i = 0; i < words->n; i++) {
                int one = verify_one(place, options, words->items[i]);

                status = one > status ? one : status;
        }
        return status;
}

static int tree(const Place *place, void *options, const Operands *words) {
        return snapshot_tree(place, ((const SnapshotOptions *) options)->common.json);
}

int verb_snapshot(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "create",  &create_usage,  snapshot_create           },
                { "ls",      &ls_usage,      snapshot_list             },
                { "inspect", &inspect_usage, snapshot_inspect          },
                { "rm",      &rm_usage,      remove_snapshots },
                { "verify",  &verify_usage,  client_snapshot_verify           },
                { "tree",    &tree_usage,    tree             },
        };
        SnapshotOptions o = { 0 };

        return subverb_run("snapshot", "Keeps sandboxes' files as they were, to begin from, fork or go back to.", subverbs, ELEMENTSOF(subverbs), argc, argv, &o);
}
