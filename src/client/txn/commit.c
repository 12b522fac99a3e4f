/* cove commit: applies the changes of a transaction, or of a sandbox of the daemon. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/human.h"
#include "client/txn/commit-sandbox.h"
#include "client/txn/txn-common.h"
#include "client/verbs.h"

#define EXIT_CONFLICT 1

static const Option commit_options[] = {
        { "force",        'f', NULL,   "overwrite files that were also changed on the host",      OPTION_FLAG(CommitVerb, force)        },
        { "to",           0,   "DIR",  "apply to this directory (default: the transaction's own)", OPTION_TEXT(CommitVerb, to)           },
        { "from",         0,   "PATH", "of a sandbox: the files below this (default: its working\ndirectory)", OPTION_TEXT(CommitVerb, from) },
        { "template",     0,   "NAME", "of a sandbox: save it as a new template",                         OPTION_TEXT(CommitVerb, template)     },
        { "allow-setuid", 0,   NULL,   "keep set-id bits",                                        OPTION_FLAG(CommitVerb, allow_setuid) },
        { "dry-run",      'n', NULL,   "only look for conflicts",                                 OPTION_FLAG(CommitVerb, dry_run)      },
};

static void add_problem(CommitVerb *v, const char *key, const char *path, const char *why) {
        _cleanup_free_ char *clean = human_clean(path);

        if (!v->common.json) {
                if (v->list_conflicts == (strcmp(key, "conflicts") == 0))
                        log_line(v->list_conflicts ? NULL : "warning", "'%s' %s%s", clean ? clean : "?", v->list_conflicts ? "" : "is left out: it ", why);
                return;
        }
        if (!json_object_get(v->answer, key))
                (void) json_object_set_new(v->answer, key, json_array());
        (void) json_array_append_new(json_object_get(v->answer, key), json_pack("{s:s, s:s}", "path", clean ? clean : "?", "reason", why));
}

static void on_conflict(const char *path, const char *why, void *userdata) {
        CommitVerb *v = userdata;

        v->list_conflicts = true;
        add_problem(v, "conflicts", path, why);
}

static void on_left_out(const char *path, const char *why, void *userdata) {
        CommitVerb *v = userdata;

        v->list_conflicts = false;
        add_problem(v, "leftOut", path, why);
}

CommitOptions commit_options_of(CommitVerb *v, const Strv *paths) {
        return (CommitOptions) {
                .paths = (const char *const *) paths->items,
                .n_paths = paths->n,
                .force = v->force,
                .allow_setuid = v->allow_setuid,
                .dry = v->dry_run,
                .conflict = on_conflict,
                .left_out = on_left_out,
                .userdata = v,
        };
}

int commit_tell(CommitVerb *v, const char *directory, const CommitResult *result, bool gone, int r, const Error *error) {
        const ChangeCount *n = &result->applied;
        _cleanup_free_ char *text = NULL;

        if (v->common.json) {
                (void) json_object_set_new(v->answer, "applied", json_boolean(r >= 0 && !v->dry_run));
                change_count_put(v->answer, n);
                (void) json_object_set_new(v->answer, "kept", json_boolean(!gone));
                text = client_json_print(v->answer, /* pretty= */ true);
                if (text)
                        puts(text);
        } else if (r >= 0)
                printf("%llu change%s %s '%s' (%llu added, %llu modified, %llu deleted)%s\n", (unsigned long long) n->total, n->total == 1 ? "" : "s",
                                v->dry_run ? "would be applied to" : "applied to", directory, (unsigned long long) n->kinds[CHANGE_ADDED],
                                (unsigned long long) n->kinds[CHANGE_MODIFIED], (unsigned long long) n->kinds[CHANGE_DELETED],
                                gone || v->dry_run ? "" : "; the rest is kept");
        if (r < 0 && (!v->common.json || r != -EEXIST))
                log_error("%s", error->text);
        return r == -EEXIST ? EXIT_CONFLICT : r < 0 ? EXIT_OWN_FAILURE : 0;
}

static int commit_transaction(CommitVerb *v, const Operands *words) {
        _cleanup_txn_ Txn t = TXN_EMPTY;
        Strv paths = STRV_INIT(COMMIT_PATHS_MAX);
        CommitResult result = { 0 };
        Error error = { 0 };
        bool gone = false;
        int status = EXIT_OWN_FAILURE, r;

        if (v->from || v->template)
                return verb_refuse("--from and --template are for sandboxes; '%s' is a transaction", words->items[0]);
        if (txn_open_told(words->items[0], /* lock= */ true, &t) >= 0 && txn_paths(&t, words->items + 1, words->n - 1, &paths) >= 0) {
                CommitOptions o = commit_options_of(v, &paths);

                r = commit_txn(&t, v->to, &o, &result, &gone, &error);
                status = commit_tell(v, v->to ? v->to : t.dir, &result, gone, r, &error);
        }
        strv_done(&paths);
        return status;
}

static int commit_run_verb(const Place *place, void *options, const Operands *words) {
        CommitVerb *v = options;
        int status;

        v->answer = json_object();
        status = txn_id_is_valid(words->items[0]) ? commit_transaction(v, words) : commit_sandbox(v, place, words);
        json_decref(v->answer);
        return status;
}

const Verb command_commit = {
        .synopsis = "commit ID [PATH…] [options]",
        .about = "Applies changes. ID is a transaction (`cove run --txn`) or a persistent sandbox.",
        .more = "If files were changed on the host too, they are listed and nothing is applied.\n"
                "With PATH, only changes at and below it; the rest of a transaction is kept.\n"
                "Exit status: 0 applied, 1 conflicts.",
        VERB_OPTIONS(commit_options), VERB_UP_TO(COMMIT_PATHS_MAX + 1, "no transaction or sandbox given"),
        VERB_RUN(commit_run_verb, CommitVerb),
};
