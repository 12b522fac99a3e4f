/* cove txn: the transactions that exist. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/ask.h"
#include "client/human.h"
#include "client/txn/txn-common.h"
#include "client/verbs.h"

#define TXNS_MAX 65536

static char *command_text(const Txn *t) {
        char *text = strdup("");

        for (size_t i = 0; i < t->command.n && text; i++) {
                char *longer = NULL;

                if (asprintf(&longer, "%s%s%s", text, i > 0 ? " " : "", t->command.items[i]) < 0)
                        longer = NULL;
                free(text);
                text = longer;
        }
        return text;
}

static bool txn_is_busy(const char *id) {
        _cleanup_txn_ Txn t = TXN_EMPTY;

        return txn_open(id, /* lock= */ true, &t, /* reterr= */ NULL) == -EBUSY;
}

static const char *txn_state_of(const Txn *t) {
        return txn_is_busy(t->id) ? "in use" : commit_is_interrupted(t) ? "interrupted" : "kept";
}

static int txn_count(const Txn *t, ChangeCount *ret) {
        Error error = { 0 };
        _cleanup_close_ int dir = txn_open_dir(t, &error), upper = dir < 0 ? -EBADF : txn_open_upper(t, &error);

        return dir < 0 ? dir : upper < 0 ? upper : changes_count(dir, upper, ret, &error);
}

static void txn_add_row(Table *table, const Txn *t) {
        _cleanup_free_ char *command = command_text(t);
        usec_t began = (usec_t) (t->since_nsec / 1000), now = clock_wall_usec();
        char age[HUMAN_MAX];
        ChangeCount n;

        table_cell(table, t->id);
        table_cell(table, txn_state_of(t));
        table_cell(table, human_span(now > began ? now - began : 0, age));
        if (txn_count(t, &n) < 0)
                table_cell(table, "?");
        else
                table_cell_format(table, "%llu", (unsigned long long) n.total);
        if (t->status == TXN_STATUS_NONE)
                table_cell(table, NULL);
        else
                table_cell_format(table, "%d", t->status);
        table_cell(table, t->dir);
        table_cell(table, command);
}

static json_t *text_or_clean(const char *text) {
        json_t *j = json_string(text);
        _cleanup_free_ char *clean = j ? NULL : human_clean(text);

        return j ? j : json_string(clean ? clean : "");
}

static json_t *txn_object_of(const Txn *t) {
        json_t *o, *command = json_array();
        ChangeCount n;

        for (size_t i = 0; i < t->command.n; i++)
                (void) json_array_append_new(command, text_or_clean(t->command.items[i]));
        o = json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:o}", "id", t->id, "state", txn_state_of(t), "directory", text_or_clean(t->dir), "target",
                        text_or_clean(t->target ? t->target : ""), "command", command, "runs", (json_int_t) t->runs, "startedAtMs",
                        (json_int_t) (t->since_nsec / 1000000), "exitStatus", t->status == TXN_STATUS_NONE ? json_null() : json_integer(t->status));
        if (txn_count(t, &n) >= 0)
                change_count_put(o, &n);
        return o;
}

static int print_list(const Strv *ids, bool json) {
        static const char *const heads[] = { "TRANSACTION", "STATE", "AGE", ">CHANGES", ">STATUS", "DIRECTORY", "COMMAND", NULL };
        _cleanup_table_ Table *table = table_new(heads);
        _cleanup_json_ json_t *list = json_array();
        TableLook look = table_look(STDOUT_FILENO);
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < ids->n && table; i++) {
                _cleanup_txn_ Txn t = TXN_EMPTY;
                Error error = { 0 };

                if (txn_open(ids->items[i], /* lock= */ false, &t, &error) < 0) {
                        log_warning("%s", error.text);
                        continue;
                }
                if (json)
                        (void) json_array_append_new(list, txn_object_of(&t));
                else
                        txn_add_row(table, &t);
        }
        if (json) {
                text = client_json_print(list, /* pretty= */ true);
                return text && puts(text) >= 0 ? 0 : -ENOMEM;
        }
        return table ? table_print(table, stdout, &look) : -ENOMEM;
}

static int client_txn_list(const Place *place, void *options, const Operands *words) {
        const Common *c = options;
        Strv ids = STRV_INIT(TXNS_MAX);
        Error error = { 0 };
        int r = txn_list(&ids, &error);

        if (r < 0)
                log_error("%s", error.text);
        else {
                r = print_list(&ids, c->json);
                if (r < 0)
                        log_error("out of memory");
        }
        strv_done(&ids);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

static const Verb txn_parts[] = {
        { "ls", "txn ls [options]", "Lists the caller's kept transactions; no daemon is needed.", .run = client_txn_list },
};

const Verb command_txn = {
        .name = "txn",
        .about = "Transactions of `cove run --txn`, for `cove diff`, `cove commit` and `cove discard`.",
        VERB_PARTS(txn_parts),
};
