#include "client/txn/diff-txn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/txn/tree-run.h"

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

int diff_txn(const Txn *t, const Strv *paths, DiffShow *show) {
        Error error = { 0 };
        _cleanup_close_ int dir = txn_open_dir(t, &error), upper = dir < 0 ? -EBADF : txn_open_upper(t, &error);
        Walked w = { .paths = paths, .show = show };
        int r = dir < 0 ? dir : upper < 0 ? upper : 0;

        if (r >= 0 && show->patches)
                r = tree_run_changes(dir, upper, paths, show, &error);
        else if (r >= 0)
                r = changes_walk(dir, upper, show_change, &w, &error);
        if (r < 0)
                log_error("%s", error.text);
        return r;
}
