/* A database of an earlier version, test/golden/database.sql: it opens, nothing in it changes, and every row that is read from it can be
 * written again as it was.
 *
 * Each table has a row in which every column has a value of its own; others are what a daemon has left. test/golden/make-database writes the
 * file anew, of a daemon that still has the old schema. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "artifact/artifact.h"
#include "store-rows.h"
#include "observe/alert-rows.h"
#include "artifact/rows.h"
#include "build/rows.h"
#include "reaper/rows.h"
#include "observe/history-rows.h"
#include "image/rows.h"
#include "agent/rows.h"
#include "store/migrations.h"
#include "gatekeeper/rows.h"
#include "api/preview/rows.h"
#include "vault/rows.h"
#include "state/rows.h"

#define SQL_MAX (1u << 20)
#define EVERY   1000000u /* more than there is */

/* The file, as rows of text. */

static void database_make(const char *path) {
        FILE *f = fopen(SOURCE_ROOT "/test/golden/database.sql", "re");
        _cleanup_free_ char *sql = calloc(1, SQL_MAX);
        char *problem = NULL;
        sqlite3 *db = NULL;
        size_t n;

        check_true("database.sql", f != NULL && sql != NULL);
        n = fread(sql, 1, SQL_MAX - 1, f);
        (void) fclose(f);
        check_true("database.sql is there as a whole", n > 0 && n < SQL_MAX - 1);
        check_int("open", sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, sql, NULL, NULL, &problem) != SQLITE_OK)
                fail_msg("database.sql: %s", problem);
        (void) sqlite3_close(db);
}

typedef struct Dump {
        sqlite3 *db;
        const char *columns_of; /* the name of another database, attached, that says which columns count */
        bool given; /* with what the store gives by itself */
        FILE *to;
} Dump;

static int dump_row(void *userdata, int n, char **values, char **names) {
        Dump *d = userdata;

        (void) fprintf(d->to, "  %s\n", values[0]);
        return 0;
}

/* "quote(a) || ' ' || quote(b)"; the caller frees. */
static char *dump_columns(Dump *d, const char *table) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        sqlite3_stmt *st = NULL;

        check_true("memory", f != NULL);
        check_int(table, sqlite3_prepare_v2(d->db, "SELECT name FROM pragma_table_info(?1, ?2) WHERE ?3 OR name != 'serial' ORDER BY cid", -1, &st, NULL),
                        SQLITE_OK);
        (void) sqlite3_bind_text(st, 1, table, -1, SQLITE_STATIC);
        (void) sqlite3_bind_text(st, 2, d->columns_of, -1, SQLITE_STATIC);
        (void) sqlite3_bind_int(st, 3, d->given);
        for (bool first = true; sqlite3_step(st) == SQLITE_ROW; first = false)
                (void) fprintf(f, "%s'%s=' || replace(quote(%s), char(10), '\\n')", first ? "" : " || ' ' || ", sqlite3_column_text(st, 0), sqlite3_column_text(st, 0));
        (void) sqlite3_finalize(st);
        (void) fclose(f);
        return text;
}

static void dump_table(Dump *d, const char *table) {
        _cleanup_free_ char *columns = dump_columns(d, table), *sql = NULL;
        bool counters = strcmp(table, "counter") == 0 && !d->given;

        (void) fprintf(d->to, "%s\n", table);
        check_true("memory", asprintf(&sql, "SELECT %s FROM main.\"%s\" %s ORDER BY 1", columns, table,
                                             counters ? "WHERE name != 'event_serial'" : "") > 0);
        check_int(sql, sqlite3_exec(d->db, sql, dump_row, d, NULL), SQLITE_OK);
}

/* All rows of the tables that the model has, by its columns. */
static char *database_dump(const char *path, const char *model, bool given) {
        char *text = NULL;
        size_t size;
        Dump d = { .columns_of = "model", .given = given, .to = open_memstream(&text, &size) };
        _cleanup_free_ char *attach = NULL;
        sqlite3_stmt *st = NULL;

        check_true("memory", d.to != NULL && asprintf(&attach, "ATTACH '%s' AS model", model) > 0);
        check_int(path, sqlite3_open(path, &d.db), SQLITE_OK);
        check_int(attach, sqlite3_exec(d.db, attach, NULL, NULL, NULL), SQLITE_OK);
        check_int(path, sqlite3_prepare_v2(d.db, "SELECT name FROM model.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", -1, &st, NULL), SQLITE_OK);
        while (sqlite3_step(st) == SQLITE_ROW)
                dump_table(&d, (const char *) sqlite3_column_text(st, 0));
        (void) sqlite3_finalize(st);
        (void) sqlite3_close(d.db);
        (void) fclose(d.to);
        return text;
}

/* Compares line by line, so that what differs can be read. */
static void dump_check(const char *what, char *found, char *wanted) {
        char *rest_found = found, *rest_wanted = wanted;

        while (rest_found && rest_wanted)
                check_string(what, strsep(&rest_found, "\n"), strsep(&rest_wanted, "\n"));
        check_true(what, !rest_found && !rest_wanted);
}

/* Every row of one store into another. */

typedef struct Copy {
        Store *from, *to;
        const char *sandbox;
        uint64_t number;
        size_t n;
} Copy;

static int copied(Copy *c, const char *what, int r) {
        check_true(what, r >= 0);
        c->n++;
        return 0;
}

static int copy_tenant(const Tenant *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "tenant", store_tenant_put(c->to, row));
}

static int copy_key(const Key *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "key", store_key_insert(c->to, row));
}

static int copy_event(const StoreEvent *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "event", store_event_add(c->to, row, /* ret_serial= */ NULL));
}

static int denial_count(const NetworkDenial *row, void *userdata) {
        Copy *c = userdata;

        c->number = MAX_OF(c->number, row->number);
        return 0;
}

static int copy_denial(const NetworkDenial *row, void *userdata) {
        Copy *c = userdata;
        NetworkDenial d = *row;

        d.number = row->number - 1; /* of the first, where to count from */
        return copied(c, "denial", store_denial_add(c->to, &d, EVERY));
}

static int copy_learned(const NetworkLearned *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "learned", store_learned_add(c->to, row, EVERY));
}

static int copy_grant(const NetworkGrant *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "grant", store_grant_add(c->to, row));
}

static int copy_sandbox(Sandbox *row, void *userdata) {
        Copy *c = userdata;

        check_result("insert", store_sandbox_insert(c->to, row), 0);
        check_result("update", store_sandbox_update(c->to, row), 0);
        check_result("update of all", store_sandbox_update_all(c->to, row), 0);
        check_result("events", store_event_each(c->from, row->id, 0, 0, copy_event, c), 0);
        check_result("learned", store_learned_each(c->from, row->id, copy_learned, c), 0);
        check_result("grants", store_grant_each(c->from, row->id, row->spec.tenant ? row->spec.tenant : "", row->spec.profile, copy_grant, c), 0);
        c->number = 0;
        check_result("denials", store_denial_each(c->from, row->id, 0, EVERY, denial_count, c), 0);
        for (uint64_t i = 1, last = c->number; i <= last; i++) /* told from the newest, numbered from the oldest */
                check_result("denial", store_denial_each(c->from, row->id, i + 1, 1, copy_denial, c), 0);
        c->n++;
        return 0;
}

static int copy_execution(const char *sandbox, Execution *row, void *userdata) {
        Copy *c = userdata;
        Sandbox sb = { 0 };

        (void) snprintf(sb.id, sizeof(sb.id), "%s", sandbox);
        row->sandbox = &sb;
        check_result("insert", store_execution_insert(c->to, row), 0);
        return copied(c, "execution", store_execution_update(c->to, row));
}

static int copy_footprint(const char *sandbox, FootprintKind kind, const char *name, void *userdata) {
        Copy *c = userdata;
        return copied(c, "ledger", store_footprint_add(c->to, sandbox, kind, name));
}

static int copy_network_use(const NetworkUse *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "network_use", store_network_use_put(c->to, row));
}

static int copy_approval(StoreApproval *row, void *userdata) {
        Copy *c = userdata;

        check_result("add", store_approval_add(c->to, row, EVERY), 0);
        return copied(c, "approval", store_approval_update(c->to, row));
}

static int copy_preview(const StorePreview *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "preview", store_preview_insert(c->to, row));
}

static int copy_note(const SecretNote *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "secret_note", store_secret_note_put(c->to, row));
}

static int copy_secret(const SecretRow *row, void *userdata) {
        Copy *c = userdata;
        SecretRow first = *row;
        int r;

        first.updated_at = row->created_at; /* the first time it is put is when it was made */
        check_result("made", store_secret_put(c->to, &first), 1);
        if (row->updated_at != row->created_at)
                check_result("changed", store_secret_put(c->to, row), 0);
        r = store_secret_note_find(c->from, row->tenant, row->name, copy_note, c);
        check_true("note", r == 0 || r == -ENOENT);
        c->n++;
        return 0;
}

static int copy_vault(const SecretRow *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "vault", store_vault_put(c->to, row->sealed, row->size));
}

static int copy_given(const SecretRow *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "secret_given", store_given_add(c->to, row->name, row->sealed, row->size));
}

static int copy_snapshot(Snapshot *row, void *userdata) {
        Copy *c = userdata;

        check_result("insert", store_snapshot_insert(c->to, row), 0);
        return copied(c, "snapshot", store_snapshot_update(c->to, row));
}

static int copy_volume(Volume *row, void *userdata) {
        Copy *c = userdata;

        check_result("insert", store_volume_insert(c->to, row), 0);
        return copied(c, "volume", store_volume_update(c->to, row));
}

static int copy_alert(StoreAlert *row, void *userdata) {
        Copy *c = userdata;

        check_result("insert", store_alert_insert(c->to, row), 0);
        return copied(c, "alert", store_alert_update(c->to, row));
}

static int copy_notification(StoreNotification *row, void *userdata) {
        Copy *c = userdata;

        check_result("insert", store_notification_insert(c->to, row), 0);
        return copied(c, "notification", store_notification_update(c->to, row));
}

static int copy_history(const HistoryRow *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "history", store_history_put(c->to, row));
}

static int copy_totals(const char *body, void *userdata) {
        Copy *c = userdata;
        return copied(c, "totals", store_totals_put(c->to, body));
}

static int copy_usage(const UsageRow *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "usage", store_usage_add(c->to, row));
}

static int copy_cleanup(const CleanupRow *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "cleanup", store_cleanup_add(c->to, row, EVERY));
}

static int copy_attempt(JobAttempt *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "job_attempt", store_attempt_put(c->to, row));
}

static int copy_job(Job *row, void *userdata) {
        Copy *c = userdata;

        check_result("insert", store_job_insert(c->to, row), 0);
        check_result("update", store_job_update(c->to, row), 0);
        return copied(c, "job", store_attempt_each(c->from, row->id, copy_attempt, c));
}

static int copy_artifact(const Artifact *row, void *userdata) {
        Copy *c = userdata;

        check_result("insert", store_artifact_insert(c->to, row), 0);
        return copied(c, "artifact", store_artifact_update(c->to, row));
}

static int copy_image(Image *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "image", store_image_put(c->to, row));
}

static int copy_template(StoreTemplate *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "template", store_template_put(c->to, row));
}

static int copy_layer(StoreLayer *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "layer", store_layer_put(c->to, row));
}

static int copy_image_snapshot(StoreImageSnapshot *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "image_snapshot", store_image_snapshot_put(c->to, row));
}

static int copy_cache(StoreCache *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "build_cache", store_cache_put(c->to, row));
}

static int copy_making(StoreMaking *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "making", store_making_put(c->to, row));
}

static int copy_build(BuildRecord *row, void *userdata) {
        Copy *c = userdata;
        return copied(c, "build", store_build_put(c->to, row));
}

static void copy_sandboxes(Copy *c) {
        check_result("tenants", store_tenant_each(c->from, copy_tenant, c), 0);
        check_result("keys", store_key_each(c->from, copy_key, c), 0);
        check_result("sandboxes", store_sandbox_each(c->from, copy_sandbox, c), 0);
        check_result("executions", store_execution_each(c->from, copy_execution, c), 0);
        check_result("ledger", store_footprint_each(c->from, copy_footprint, c), 0);
        check_result("network use", store_network_use_each(c->from, copy_network_use, c), 0);
        check_result("approvals", store_approval_each(c->from, NULL, NULL, 0, EVERY, copy_approval, c), 0);
        check_result("previews", store_previews(c->from, copy_preview, c), 0);
        check_result("secrets", store_secret_each(c->from, NULL, copy_secret, c), 0);
        check_result("vault", store_vault_get(c->from, copy_vault, c), 0);
        check_result("given", store_given_each(c->from, copy_given, c), 0);
        check_result("snapshots", store_snapshot_each(c->from, copy_snapshot, c), 0);
        check_result("volumes", store_volume_each(c->from, copy_volume, c), 0);
}

static void copy_the_rest(Copy *c) {
        JobFilter jobs = { .limit = EVERY };
        ArtifactQuery artifacts = { .limit = EVERY };
        uint64_t next;

        check_result("alerts", store_alert_each(c->from, copy_alert, c), 0);
        check_result("notifications", store_notification_each(c->from, copy_notification, c), 0);
        check_result("history", store_history_each(c->from, false, 0, INT64_MAX, copy_history, c), 0);
        check_result("history", store_history_each(c->from, true, 0, INT64_MAX, copy_history, c), 0);
        check_result("totals", store_totals_get(c->from, copy_totals, c), 0);
        check_result("usage", store_usage_each(c->from, NULL, 0, INT64_MAX, EVERY, copy_usage, c), 0);
        check_result("cleanup", store_cleanup_each(c->from, EVERY, copy_cleanup, c), 0);
        check_result("jobs", store_job_each(c->from, &jobs, copy_job, c, &next), 0);
        check_result("artifacts", store_artifact_list(c->from, &artifacts, copy_artifact, c), 0);
        check_result("images", store_image_each(c->from, copy_image, c), 0);
        check_result("templates", store_template_each(c->from, copy_template, c), 0);
        check_result("layers", store_layer_each(c->from, copy_layer, c), 0);
        check_result("trees of images", store_image_snapshot_each(c->from, copy_image_snapshot, c), 0);
        check_result("cache", store_cache_each(c->from, copy_cache, c), 0);
        check_result("makings", store_making_each(c->from, copy_making, c), 0);
        check_result("builds", store_build_each(c->from, copy_build, c), 0);
}

/* They have no function that tells their names: another copy of the database has them. */
static void copy_counters(Copy *c, const char *path) {
        sqlite3_stmt *st = NULL;
        sqlite3 *db = NULL;

        check_int(path, sqlite3_open(path, &db), SQLITE_OK);
        check_int("counters", sqlite3_prepare_v2(db, "SELECT name FROM counter WHERE name != 'event_serial'", -1, &st, NULL), SQLITE_OK);
        while (sqlite3_step(st) == SQLITE_ROW) {
                const char *name = (const char *) sqlite3_column_text(st, 0);
                uint64_t value = 0;

                check_result(name, store_counter_get(c->from, name, &value), 0);
                (void) copied(c, name, store_counter_set(c->to, name, value));
        }
        (void) sqlite3_finalize(st);
        (void) sqlite3_close(db);
}

TEST(opening_changes_nothing) {
        _cleanup_free_ char *before = NULL, *after = NULL;
        char model[PATH_MAX];

        (void) snprintf(model, sizeof(model), "%s", unit_path("model.db"));
        database_make(model);
        database_make(unit_path("opened.db"));
        before = database_dump(model, model, /* given= */ true);
        (void) store_close(open_store("opened.db"));
        after = database_dump(unit_path("opened.db"), model, /* given= */ true);
        dump_check("after the store has opened it", after, before);
}

TEST(no_table_is_empty) {
        _cleanup_free_ char *text = NULL;
        const char *table = NULL;

        database_make(unit_path("full.db"));
        text = database_dump(unit_path("full.db"), unit_path("full.db"), /* given= */ true);
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
                check_true(table ? table : "first", line[0] == ' ' || !table); /* a name follows a row, not another name */
                table = line[0] == ' ' ? NULL : line;
        }
}

TEST(every_row_is_written_as_it_was_read) {
        _cleanup_free_ char *wanted = NULL, *found = NULL;
        char from[PATH_MAX], to[PATH_MAX];
        Copy c = { 0 };

        (void) snprintf(from, sizeof(from), "%s", unit_path("from.db"));
        (void) snprintf(to, sizeof(to), "%s", unit_path("to.db"));
        database_make(from);
        database_make(unit_path("names.db"));
        c.from = open_store("from.db");
        c.to = open_store("to.db");
        copy_sandboxes(&c);
        copy_the_rest(&c);
        copy_counters(&c, unit_path("names.db"));
        (void) store_close(c.from);
        (void) store_close(c.to);
        check_true("rows", c.n > 40);

        wanted = database_dump(from, from, /* given= */ false);
        found = database_dump(to, from, /* given= */ false);
        dump_check("written again", found, wanted);
}
