/* cove fork, cove restore: creates sandboxes from the files of another, or resets a sandbox's files to a
 * snapshot. */

#include <stdio.h>

#include "client/ask.h"
#include "client/verbs.h"

#define FORK_MAX 500

static const Option fork_options[] = {
        { "count",    'c', "N",          "how many (default 1, or as many as names)", BODY_NUMBER("count", 1, FORK_MAX) },
        { "name",     'n', "NAME",       "of one of them; can be repeated", BODY_WORDS("names", FORK_MAX) },
        { "env",      'e', "NAME=VALUE", "set a variable; NAME alone passes the caller's", BODY_ENV("env") },
        { "timeout",  0,   "TIME",       "life of each (default: as long as the other's,\nfrom now on)", BODY_SECONDS("timeoutSeconds") },
        { "snapshot", 0,   NULL,         "the word is a snapshot, also if a sandbox has the\nsame name", OPTION_OWN },
};

/* Sandboxes and snapshots may have the same names: the sandbox is meant, unless there is none. */
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
        .about = "Makes sandboxes that begin with the files of a persistent one, as they are at this moment,\n"
                 "and prints their ids (their names, with --name). All of them are made, or none. What runs\n"
                 "in it is not copied.",
        .more = "Example: cove fork box --count 3",
        VERB_OPTIONS(fork_options), VERB_ONE("no sandbox given"), .run = fork_run, VERB_POST("/api/sandbox/%/fork"), .waiting = "copying the disk",
};

const Verb command_restore = {
        .synopsis = "restore SANDBOX SNAPSHOT [options]",
        .about = "Puts a sandbox's files back to what a snapshot has. What runs in it ends; its id, name and\n"
                 "timeout stay.",
        .more = "Example: cove restore box before",
        VERB_TWO("no sandbox given", "no snapshot given"), VERB_POST("/api/sandbox/%/restore"), .waiting = "restoring the files",
        .goes_on = "the files are restored all the same: `cove inspect` tells when it is ready", .operand = "snapshot",
};
