/* cove discard: drops the changes of a transaction, or of a sandbox of the daemon. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/ask.h"
#include "client/txn/txn-common.h"
#include "client/verbs.h"

#define PATHS_MAX 256

static const Option discard_options[] = {
        { "force", 'f', NULL, "also drop a transaction whose commit was interrupted", OPTION_OWN },
};

/* An interrupted commit may have left something in the directory: without --force the user is told, and
 * nothing is dropped. */
static int clear_commit(const Txn *t, bool force) {
        Error error = { 0 };
        _cleanup_close_ int dir = -EBADF;
        int r;

        if (!commit_is_interrupted(t))
                return 0;
        if (!force)
                return log_failure(-EBUSY,
                                "a commit of transaction %s did not come to its end: `cove commit %s` "
                                "completes it, --force drops what it has not done",
                                t->id, t->id);
        r = dir = txn_open_dir(t, &error);
        if (r >= 0)
                r = commit_clear(t, dir, &error);
        return r < 0 ? log_failure(r, "%s", error.text) : r;
}

static void discard_tell(const Common *o, const Txn *t, bool gone) {
        if (o->json)
                printf("{\"id\": \"%s\", \"kept\": %s}\n", t->id, gone ? "false" : "true");
}

static int discard_paths(const Common *o, const Txn *t, const Operands *words) {
        Strv paths = STRV_INIT(PATHS_MAX);
        Error error = { 0 };
        int r = txn_paths(t, words->items + 1, words->n - 1, &paths);

        if (r >= 0 && (r = commit_drop(t, (const char *const *) paths.items, paths.n, &error)) < 0)
                log_error("%s", error.text);
        strv_done(&paths);
        if (r >= 0)
                discard_tell(o, t, /* gone= */ false);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

static int discard_transaction(const Common *o, const Operands *words) {
        _cleanup_txn_ Txn t = TXN_EMPTY;
        Error error = { 0 };
        int r = txn_open(words->items[0], /* lock= */ true, &t, &error);

        if (r < 0 && r != -EBADMSG)
                return verb_refuse("%s", error.text);
        if (r >= 0 && clear_commit(&t, common_said(o, "force")) < 0)
                return EXIT_OWN_FAILURE;
        if (words->n > 1)
                return discard_paths(o, &t, words);
        r = txn_remove(&t, &error);
        if (r < 0)
                return verb_refuse("%s", error.text);
        discard_tell(o, &t, /* gone= */ true);
        return 0;
}

/* A sandbox began from a snapshot, or from an empty disk; the second leaves nothing to restore. */
static int discard_sandbox(const Common *o, const Place *place, const Operands *words) {
        _cleanup_answer_ Answer sandbox = { 0 }, restored = { 0 };
        _cleanup_builder_ JsonBuilder body = { 0 };
        const char *snapshot;

        if (words->n > 1)
                return verb_refuse("unexpected argument '%s': a sandbox goes back as a whole", words->items[1]);
        if (client_need_path(place, /* body= */ NULL, &sandbox, "/api/sandbox/%s", words->items[0]) < 0)
                return EXIT_OWN_FAILURE;
        snapshot = json_get_text(sandbox.json, "snapshot");
        if (!json_get_bool(sandbox.json, "persistent") || !snapshot)
                return verb_refuse("sandbox '%s' did not begin from a snapshot, there is nothing to go back to: remove it and create it again", words->items[0]);
        json_put_text(&body, "snapshot", snapshot);
        if (client_try(place, "POST", &body, &restored, "/api/sandbox/%s/restore", words->items[0]) < 0)
                return EXIT_OWN_FAILURE;
        if (restored.head.status == 404)
                log_error("the snapshot that sandbox '%s' began from was removed, there is nothing to go back to: `cove snapshot ls` shows those there are, `cove restore` "
                          "takes any of them", words->items[0]);
        else if (!answer_is_good(&restored))
                (void) answer_tell(&restored);
        if (!answer_is_good(&restored))
                return EXIT_OWN_FAILURE;
        if (o->json)
                answer_print(&restored);
        return 0;
}

static int discard_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;

        return txn_id_is_valid(words->items[0]) ? discard_transaction(o, words) : discard_sandbox(o, place, words);
}

const Verb command_discard = {
        .synopsis = "discard ID [PATH…] [options]",
        .about = "Drops changes. ID is a transaction (`cove run --txn`) or a persistent sandbox.",
        .more = "A sandbox returns to the snapshot that it was created from.\n"
                "With PATH, only the changes at and below it are dropped from a transaction.",
        VERB_OPTIONS(discard_options), VERB_UP_TO(PATHS_MAX + 1, "no transaction or sandbox given"),
        .run = discard_run,
};
