/* cove diff: shows the changes of a transaction of `cove run --txn`, or of a sandbox of the daemon. */

#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/ask.h"
#include "client/lines.h"
#include "client/txn/diff-show.h"
#include "client/txn/tree-run.h"
#include "client/txn/txn-common.h"
#include "client/verbs.h"

#define PATHS_MAX 256
#define LINE_MAX_BYTES (64u << 20)

static const Option diff_options[] = {
        { "patch", 'p', NULL, "show the changes as unified diffs", OPTION_OWN },
        { "stat",  0,   NULL, "show the number of changed lines of each file, and the sum", OPTION_OWN },
        { "names", 0,   NULL, "show names only",                               OPTION_OWN },
};

static DiffMode diff_mode_of(const Common *o) {
        return o->json                   ? DIFF_JSON
               : common_said(o, "patch") ? DIFF_PATCH
               : common_said(o, "stat")  ? DIFF_STAT
               : common_said(o, "names") ? DIFF_NAMES
                                         : DIFF_LINES;
}

typedef struct Walked {
        const Strv *paths;
        DiffShow *show;
} Walked;

static int show_change(const Change *c, void *userdata) {
        const Walked *w = userdata;
        const struct stat *is = c->after.st_mode ? &c->after : &c->before;
        DiffEntry e = {
                .path = c->path,
                .change = change_name(c->kind),
                .type = change_type_name(is->st_mode),
                .size = S_ISREG(c->after.st_mode) ? c->after.st_size : -1,
                .old_size = S_ISREG(c->before.st_mode) ? c->before.st_size : -1,
                .mode = c->after.st_mode && !S_ISLNK(c->after.st_mode) ? (int) (c->after.st_mode & 07777) : -1,
                .old_mode = c->before.st_mode && !S_ISLNK(c->before.st_mode) ? (int) (c->before.st_mode & 07777) : -1,
        };

        if (!change_is_wanted(c->path, (const char *const *) w->paths->items, w->paths->n))
                return 0;
        return diff_show_entry(w->show, &e);
}

static int diff_txn(const Txn *t, const Strv *paths, DiffShow *show) {
        Error error = { 0 };
        _cleanup_close_ int dir = txn_open_dir(t, &error), upper = dir < 0 ? -EBADF : txn_open_upper(t, &error);
        Walked w = { .paths = paths, .show = show };
        int r = dir < 0 ? dir : upper < 0 ? upper : 0;

        if (r >= 0 && show->patches)
                r = tree_run_changes(dir, upper, paths, show, &error);
        else if (r >= 0)
                r = changes_walk(dir, upper, show_change, &w, &error);
        return r < 0 ? log_failure(r, "%s", error.text) : r;
}

static int show_txn(const Common *o, const Operands *words, DiffShow *show) {
        _cleanup_txn_ Txn t = TXN_EMPTY;
        Strv paths = STRV_INIT(PATHS_MAX);
        int r = txn_open_told(words->items[0], /* lock= */ false, &t);

        if (r >= 0)
                r = txn_paths(&t, words->items + 1, words->n - 1, &paths);
        if (r >= 0)
                r = diff_txn(&t, &paths, show);
        strv_done(&paths);
        return r;
}

/* An answer of lines, each an object. */
typedef struct DiffLines {
        DiffShow *show;
        Error error;
} DiffLines;

static int diff_take_line(void *userdata, const char *line, size_t size) {
        DiffLines *l = userdata;
        _cleanup_json_ json_t *change = size == 0 ? NULL : json_parse(line, size, &l->error);

        if (size == 0)
                return 0;
        if (!change)
                return -EBADMSG;
        if (json_has(change, "error"))
                return error_set(&l->error, -EIO, "%s", json_get_text_or(json_object_get(change, "error"), "message", "the daemon could not go on"));
        return diff_show_json(l->show, change);
}

static int diff_show_sandbox(const Place *place, const Common *o, const Operands *words, DiffShow *show) {
        DiffLines lines = { .show = show };
        _cleanup_lines_ LineReader reader = { .line = diff_take_line, .userdata = &lines, .max = LINE_MAX_BYTES };
        _cleanup_url_ Url u = url_of("/api/sandbox/%s/changes?patch=%s", words->items[0],
                        common_said(o, "patch") || common_said(o, "stat") ? "1" : NULL);

        for (unsigned i = 1; i < words->n; i++)
                url_query(&u, "path", words->items[i]);
        return client_receive(place, &u, "application/x-ndjson", line_reader_feed, &reader, &lines.error);
}

static int diff_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        DiffShow show;
        int r;

        diff_show_begin(&show, diff_mode_of(o), common_said(o, "patch") || common_said(o, "stat"));
        r = txn_id_is_valid(words->items[0]) ? show_txn(o, words, &show) : diff_show_sandbox(place, o, words, &show);
        if (r < 0) {
                json_decref(show.list);
                return EXIT_OWN_FAILURE;
        }
        return diff_show_end(&show) < 0 ? verb_refuse("out of memory") : 0;
}

const Verb command_diff = {
        .synopsis = "diff ID [PATH…] [options]",
        .about = "Shows changes. ID is a transaction (`cove run --txn`) or a persistent sandbox.",
        .more = "A is added, M modified, D deleted. With PATH, only changes at and below it.\n"
                "Example: cove diff --patch txn-k3v9x2 src | less -R",
        VERB_OPTIONS(diff_options), VERB_UP_TO(PATHS_MAX + 1, "no transaction or sandbox given"),
        .run = diff_run,
};
