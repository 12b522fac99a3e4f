/* cove snapshot: saved files of sandboxes, by name. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "client/ask.h"
#include "client/human.h"
#include "client/sandbox/listing.h"
#include "client/verbs.h"

static const Option create_options[] = {
        { "name",    'n', "NAME", "name of the snapshot", BODY_TEXT("name") },
        { "comment", 'c', "TEXT", "text for people", BODY_TEXT("comment") },
};
static const Option ls_options[] = {
        { "quiet",   'q', NULL,      "ids only", OPTION_FLAG(Common, quiet) },
        { "no-trunc", 0, NULL, "whole ids in the table", OPTION_OWN },
        { "sandbox", 0,   "SANDBOX", "only those of this sandbox", QUERY_TEXT("sandbox") },
};

static void cell_comment(Table *t, const json_t *snapshot, const Column *c) {
        table_cell(t, strcmp(json_get_text_or(snapshot, "status", ""), "ready") == 0 ? json_get_text(snapshot, c->key) : "its files are gone");
}

static const Column snapshot_columns[] = {
        { "ID", "id", cell_id }, { "NAME", "name" }, { "SANDBOX", "sandbox", cell_id }, { "TEMPLATE", "template" }, { ">SIZE", "bytes", cell_size },
        { "TAKEN", "createdAt" }, { "COMMENT", "comment", cell_comment },
};

static void snapshot_show_check(const json_t *answer, const char *name) {
        char size[HUMAN_MAX];

        if (json_get_bool(answer, "good"))
                printf("%s: good, %s in %lld entries\n", name, human_size((double) json_get_integer(answer, "bytes", 0), size),
                                json_count(answer, "entries"));
        else
                human_line("%s: DAMAGED: %s", name, json_get_text_or(answer, "error", "?"));
}

/* The tree of descent.
 *
 * The parent of a snapshot is the snapshot before it, or the one that its sandbox began as, or else its sandbox. The
 * parent of a sandbox is the snapshot that it began as, or the sandbox that it was forked from. A node whose parent
 * is gone, or that has none, is a root. */

#define DEPTH_MAX 256 /* deeper nodes are shown flat: a cycle cannot exist, but nothing here must depend on that */

typedef struct Node {
        const json_t *json;
        const char *id, *parent; /* parent NULL: no parent exists */
        bool is_snapshot, shown;
} Node;

typedef struct Nodes {
        Node *items;
        size_t n;
} Nodes;

static const Node *snapshot_tree_find(const Nodes *all, const char *id) {
        for (size_t i = 0; id && i < all->n; i++)
                if (strcmp(all->items[i].id, id) == 0)
                        return all->items + i;
        return NULL;
}

static int snapshot_tree_add(Nodes *all, const json_t *json, bool is_snapshot) {
        if (ARRAY_EXTEND(all->items, all->n) < 0)
                return -1;
        all->items[all->n++] = (Node) { .json = json, .id = json_get_text_or(json, "id", ""), .is_snapshot = is_snapshot };
        return 0;
}

/* Finds the nearest parent that still exists. */
static void snapshot_tree_find_parent(const Nodes *all, Node *n) {
        const char *const keys[] = { n->is_snapshot ? "parent" : "snapshot", n->is_snapshot ? "sandbox" : "parent" };

        for (size_t i = 0; i < 2 && !n->parent; i++) {
                const Node *p = snapshot_tree_find(all, json_get_text(n->json, keys[i]));

                if (p && p != n)
                        n->parent = p->id;
        }
        if (n->is_snapshot && n->parent) {
                const Node *p = snapshot_tree_find(all, n->parent); /* the sandbox began as this very snapshot: a restore */

                if (p && !p->is_snapshot && strcmp(json_get_text_or(p->json, "snapshot", ""), n->id) == 0)
                        n->parent = NULL;
        }
}

static void print_node(const Node *n, const char *stem, bool last, unsigned depth) {
        const char *name = json_get_text(n->json, "name");
        _cleanup_free_ char *clean = human_clean(name ? name : "");
        const char *status = json_get_text_or(n->json, "status", "?");

        printf("%s%s%s %s", stem, depth == 0 ? "" : last ? "└─ " : "├─ ", n->is_snapshot ? "snapshot" : "sandbox", n->id);
        if (clean && *clean)
                printf(" (%s)", clean);
        if (n->is_snapshot)
                printf(" %s\n", json_get_text_or(n->json, "createdAt", ""));
        else
                printf(" %s%s\n", status, json_get_bool(n->json, "parked") ? ", on disk" : "");
}

static void print_below(Nodes *all, const char *parent, const char *stem, unsigned depth) {
        size_t left = 0;

        for (size_t i = 0; i < all->n; i++)
                left += !all->items[i].shown && (parent ? all->items[i].parent && strcmp(all->items[i].parent, parent) == 0 : !all->items[i].parent);
        for (size_t i = 0; i < all->n && left > 0; i++) {
                Node *n = all->items + i;
                char below[DEPTH_MAX * 4 + 8];
                bool is_child = parent ? n->parent && strcmp(n->parent, parent) == 0 : !n->parent;

                if (n->shown || !is_child)
                        continue;
                n->shown = true;
                left--;
                print_node(n, stem, left == 0, depth);
                (void) snprintf(below, sizeof(below), "%s%s", stem, depth == 0 ? "" : left == 0 ? "   " : "│  ");
                if (depth < DEPTH_MAX)
                        print_below(all, n->id, below, depth + 1);
        }
}

static void snapshot_tree_print(Nodes *all) {
        for (size_t i = 0; i < all->n; i++)
                snapshot_tree_find_parent(all, all->items + i);
        print_below(all, /* parent= */ NULL, "", 0);
        for (size_t i = 0; i < all->n; i++) /* nodes that could not be reached */
                if (!all->items[i].shown)
                        print_node(all->items + i, "", true, 0);
}

static int snapshot_tree(const Place *place, void *options, const Operands *words) {
        const Common *c = options;
        _cleanup_listing_ Listing snapshots = { 0 }, sandboxes = { 0 };
        _cleanup_url_ Url u = url_fill(c->verb->path, words->items);
        Nodes all = { 0 };
        int failed = 0;

        if (listing_get(place, &u, /* key= */ NULL, &snapshots) < 0 || listing_sandboxes(place, &sandboxes) < 0)
                return EXIT_OWN_FAILURE;
        if (c->json) {
                listing_print_json(&snapshots);
                return 0;
        }
        for (const json_t *n; (n = listing_row(&snapshots));)
                failed |= snapshot_tree_add(&all, n, /* is_snapshot= */ true);
        for (const json_t *n; (n = listing_row(&sandboxes));)
                if (json_get_bool(n, "persistent"))
                        failed |= snapshot_tree_add(&all, n, /* is_snapshot= */ false);
        snapshot_tree_print(&all);
        free(all.items);
        return failed ? EXIT_OWN_FAILURE : 0;
}

static const Verb snapshot_parts[] = {
        { "create", "snapshot create SANDBOX [options]",
          "Saves the current files of a persistent sandbox, and prints the\n"
          "snapshot's id (its name, with --name). The sandbox is frozen during the copy, which\n"
          "takes a moment regardless of the size.",
          .more = "Example: cove snapshot create box --name before && cove exec box -- ./try && cove restore box before",
          VERB_OPTIONS(create_options), VERB_ONE("no sandbox given"), VERB_POST("/api/sandbox/%/snapshots"),
          .waiting = "taking the snapshot", .goes_on = "the snapshot is taken all the same: `cove snapshot ls` shows it when it is", .prints = "id", .named = true },
        { "ls", "snapshot ls [options]", "Lists the snapshots, oldest first.", VERB_OPTIONS(ls_options),
          .path = "/api/snapshots?limit=1000", .pages = true, .quiet = "id", VERB_COLUMNS(snapshot_columns) },
        { "inspect", "snapshot inspect SNAPSHOT [options]", "Shows the details of a snapshot.", VERB_ONE("no snapshot given"),
          .path = "/api/snapshots/%", .show = show_members },
        { "rm", "snapshot rm SNAPSHOT… [options]", "Removes snapshots. Sandboxes that were created from them have their own copy.",
          VERB_SOME("no snapshot given"), VERB_DELETE("/api/snapshots/%") },
        { "verify", "snapshot verify SNAPSHOT… [options]", "Reads every byte of snapshots again; exit status 1 if one is damaged.",
          VERB_SOME("no snapshot given"), .method = "POST", .path = "/api/snapshots/%/verify", .waiting = "reading every byte", .each = true, .lines = true,
          .show = snapshot_show_check, .good = "good" },
        { "tree", "snapshot tree [options]", "Shows which snapshots and sandboxes come from which.", .run = snapshot_tree,
          .path = "/api/snapshots?limit=1000", .pages = true },
};

const Verb command_snapshot = {
        .name = "snapshot",
        .about = "Saves the files of sandboxes, to create, fork or restore sandboxes from them.",
        VERB_PARTS(snapshot_parts),
};
