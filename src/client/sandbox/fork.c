/* cove fork, cove restore: creates sandboxes from the files of another, or resets a sandbox's files to a
 * snapshot. */

#include <stdio.h>

#include "client/ask.h"
#include "client/verbs.h"

#define FORK_MAX 500

static const Option fork_options[] = {
        { "count",    'c', "N",          "how many (default: the number of names, or 1)", BODY_NUMBER("count", 1, FORK_MAX) },
        { "name",     'n', "NAME",       "name of a new sandbox; can be repeated", BODY_WORDS("names", FORK_MAX) },
        { "env",      'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's value", BODY_ENV("env") },
        { "timeout",  0,   "TIME",       "life of each from now on (default: as long as the\noriginal was given)", BODY_SECONDS("timeoutSeconds") },
        { "snapshot", 0,   NULL,         "the operand is a snapshot, even if a sandbox has the\nsame name", OPTION_OWN },
};

/* Sandboxes and snapshots may have the same names: the word names a snapshot only if there is no such
 * sandbox. */
static bool is_snapshot(const Place *place, const char *word) {
        _cleanup_answer_ Answer sandbox = { 0 }, snapshot = { 0 };
        _cleanup_url_ Url u = url_of("/api/sandbox/%s", word), to = url_of("/api/snapshots/%s", word);
        Error error = { 0 };

        if (client_ask(place, /* method= */ NULL, &u, /* body= */ NULL, &sandbox, &error) < 0 || sandbox.head.status != 404)
                return false;
        return client_ask(place, /* method= */ NULL, &to, /* body= */ NULL, &snapshot, &error) >= 0 && answer_is_good(&snapshot);
}

static const Verb fork_snapshot_verb = { .method = "POST", .path = "/api/snapshots/%/fork", .body = "{}" };

static int fork_run(const Place *place, void *options, const Operands *words) {
        Common *o = options;
        _cleanup_answer_ Answer a = { 0 };
        const json_t *sandbox;
        size_t i;

        if (common_said(o, "snapshot") || is_snapshot(place, words->items[0]))
                o->verb = &fork_snapshot_verb;
        if (ask_need(place, o, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->json)
                answer_print(&a);
        else
                json_array_foreach(json_object_get(a.json, "sandboxes"), i, sandbox)
                        puts(json_get_text_or(sandbox, json_has(o->body.object, "names") ? "name" : "id", ""));
        return 0;
}

const Verb command_fork = {
        .synopsis = "fork SANDBOX|SNAPSHOT [options]",
        .about = "Creates sandboxes with the current files of a persistent sandbox or with those of a snapshot,\n"
                 "and prints their ids (their names, with --name). Either all of them are created, or none.\n"
                 "Processes are not copied.",
        .more = "Example: cove fork box --count 3",
        VERB_OPTIONS(fork_options), VERB_ONE("no sandbox given"), .run = fork_run, VERB_POST("/api/sandbox/%/fork"), .waiting = "copying the disk",
};

const Verb command_restore = {
        .synopsis = "restore SANDBOX SNAPSHOT [options]",
        .about = "Replaces the files of a sandbox with those of a snapshot. Its processes end; its id, name and\n"
                 "timeout stay.",
        .more = "Example: cove restore box before",
        VERB_TWO("no sandbox given", "no snapshot given"), VERB_POST("/api/sandbox/%/restore"), .waiting = "restoring the files",
        .goes_on = "the files are restored all the same: `cove inspect` tells when it is ready", .operand = "snapshot",
};
