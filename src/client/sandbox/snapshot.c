/* cove snapshot: what sandboxes' disks were, by name. */

#include "client/sandbox/snapshot.h"

#include <stdio.h>
#include <string.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/sandbox/inspect.h"
#include "client/verbs.h"

static const Option create_options[] = {
        { "name",    'n', "NAME", "by which it can be found again", BODY_TEXT("name") },
        { "comment", 'c', "TEXT", "for people", BODY_TEXT("comment") },
};
static const Option ls_options[] = {
        { "quiet",   'q', NULL,      "ids only", OPTION_FLAG(Common, quiet) },
        { "sandbox", 0,   "SANDBOX", "only those of this one", QUERY_TEXT("sandbox") },
};

static void cell_comment(Table *t, const json_t *snapshot, const Column *c) {
        table_cell(t, strcmp(json_get_text_or(snapshot, "status", ""), "ready") == 0 ? json_get_text(snapshot, c->key) : "its files are gone");
}

static const Column snapshot_columns[] = {
        { "ID", "id" }, { "NAME", "name" }, { "SANDBOX", "sandbox" }, { "TEMPLATE", "template" }, { ">SIZE", "bytes", cell_size },
        { "TAKEN", "createdAt" }, { "COMMENT", "comment", cell_comment },
};

static void snapshot_show_check(const json_t *answer, const char *name) {
        char size[HUMAN_MAX];

        if (json_get_bool(answer, "good"))
                printf("%s: good, %s in %lld entries\n", name, human_size((double) json_get_integer(answer, "bytes", 0), size),
                                json_count(answer, "entries"));
        else
                printf("%s: DAMAGED: %s\n", name, json_get_text_or(answer, "error", "?"));
}

static const Verb snapshot_parts[] = {
        { "create", "snapshot create SANDBOX [options]",
          "Keeps the files of a persistent sandbox as they are at this moment, and prints the\n"
          "snapshot's id (its name, with --name). The sandbox stands still while it is copied,\n"
          "which does not depend on its size.",
          .more = "Example: cove snapshot create box --name before && cove exec box -- ./try && cove restore box before",
          VERB_OPTIONS(create_options), VERB_ONE("no sandbox given"), VERB_POST("/api/sandbox/%/snapshots"), .prints = "id", .named = true },
        { "ls", "snapshot ls [options]", "Lists the snapshots, in the order in which they were taken.", VERB_OPTIONS(ls_options),
          .path = "/api/snapshots?limit=1000", .pages = true, .quiet = "id", VERB_COLUMNS(snapshot_columns) },
        { "inspect", "snapshot inspect SNAPSHOT [options]", "Tells all about a snapshot.", VERB_ONE("no snapshot given"),
          .path = "/api/snapshots/%", .show = inspect_print },
        { "rm", "snapshot rm SNAPSHOT… [options]", "Removes snapshots. Sandboxes that were made of them have a copy of their own.",
          VERB_SOME("no snapshot given"), VERB_DELETE("/api/snapshots/%") },
        { "verify", "snapshot verify SNAPSHOT… [options]", "Reads every byte of snapshots; exit status 1 when one is damaged.",
          VERB_SOME("no snapshot given"), .method = "POST", .path = "/api/snapshots/%/verify", .each = true, .lines = true,
          .show = snapshot_show_check, .good = "good" },
        { "tree", "snapshot tree [options]", "Shows which snapshots and sandboxes come from which.", .run = snapshot_tree,
          .path = "/api/snapshots?limit=1000", .pages = true },
};

const Verb command_snapshot = {
        .name = "snapshot",
        .about = "Keeps sandboxes' files as they were, to begin from, fork or go back to.",
        VERB_PARTS(snapshot_parts),
};
