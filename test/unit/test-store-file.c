/* The store's file: what a crash leaves, how large it gets, files that are not what they should be, and migrations. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "store-rows.h"
#include "store/migrations.h"
#include "store/table.h"

/* A refused file is left as it is. */
static void check_refused(const char *name, int code, const char *words) {
        Error error = { 0 };
        Store *s = NULL;

        check_result(name, store_open(unit_path(name), &s, &error), code);
        check_true(name, s == NULL);
        check_int(name, error.code, code);
        check_part(name, error.text, words);
        check_part(name, error.text, unit_path(name));
}

/* Crashes: a writer is killed at any moment, and what it had told is there, whole. */

static void write_one(Store *s, unsigned i) {
        Sandbox sb = plain_sandbox(i);
        StoreEvent event = { .sandbox_id = sb.id, .type = "created" };
        Execution x = plain_execution(&sb, 1);

        check_result("begin", store_begin(s), 0);
        check_result("insert", store_sandbox_insert(s, &sb), 0);
        for (FootprintKind k = 0; k < _FOOTPRINT_MAX; k++)
                check_result("ledger", store_footprint_add(s, sb.id, k, "x"), 0);
        check_result("execution", store_execution_insert(s, &x), 0);
        check_result("event", store_event_add(s, &event, NULL), 0);
        check_result("counter", store_counter_set(s, "made", i + 1), 0);
        check_result("commit", store_commit(s), 0);
        sb.status = SANDBOX_READY;
        check_result("update", store_sandbox_update(s, &sb), 0);
}

_noreturn_ static void write_until_killed(unsigned first, int tell) {
        Store *s = open_store("crash.db");

        for (unsigned i = first;; i++) {
                write_one(s, i);
                if (write(tell, &i, sizeof(i)) != (ssize_t) sizeof(i))
                        _exit(1);
        }
}

typedef struct Crash {
        unsigned n, n_ready, next;
} Crash;

static int check_crash_row(Sandbox *row, void *userdata) {
        Crash *c = userdata;

        check_uint("in order, without a gap", strtoul(row->id + 1, NULL, 10), c->n);
        c->n++;
        c->n_ready += row->status == SANDBOX_READY;
        return 0;
}

/* Told: how many the writer had acknowledged. It may have done one more. */
static unsigned check_after_crash(unsigned told) {
        Store *s = open_store("crash.db");
        Crash c = { 0 };
        uint64_t made = 0;

        check_result("each", store_sandbox_each(s, check_crash_row, &c), 0);
        check_true("what was told is there", c.n >= told && c.n <= told + 1);
        check_true("updates too", c.n_ready >= told && c.n_ready <= c.n);
        check_uint("ledger rows", n_footprint(s), (size_t) c.n * _FOOTPRINT_MAX);
        check_uint("executions", n_executions(s), c.n);
        check_result("counter", store_counter_get(s, "made", &made), 0);
        check_uint("counter", made, c.n);
        for (unsigned i = told > 3 ? told - 3 : 0; i < c.n; i++) {
                Sandbox sb = plain_sandbox(i);

                check_uint("events", n_events(s, sb.id), 1);
                if (i == told) { /* the last word of the dead, which may or may not have been said */
                        sb.status = SANDBOX_READY;
                        check_result("go on", store_sandbox_update(s, &sb), 0);
                }
        }
        store_close(s);
        return c.n;
}

static unsigned crash_once(unsigned first, unsigned usec) {
        unsigned told = first, i;
        int pipe_fds[2], status;
        pid_t pid;

        check_result("pipe", pipe2(pipe_fds, O_CLOEXEC), 0);
        pid = fork();
        check_true("fork", pid >= 0);
        if (pid == 0)
                write_until_killed(first, pipe_fds[1]);
        (void) close(pipe_fds[1]);
        if (usec % 2 == 0) /* else also in the middle of opening it */
                while (told < first + 3 && read(pipe_fds[0], &i, sizeof(i)) == (ssize_t) sizeof(i))
                        told = i + 1;
        (void) usleep(usec);
        (void) kill(pid, SIGKILL);
        while (read(pipe_fds[0], &i, sizeof(i)) == (ssize_t) sizeof(i))
                told = i + 1;
        (void) close(pipe_fds[0]);
        check_int("waitpid", waitpid(pid, &status, 0), pid);
        check_true("killed, and not ended by a check", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        return told;
}

TEST(crash_safety) {
        unsigned n = 0;

        for (unsigned round = 0; round < 60; round++)
                n = check_after_crash(crash_once(n, (round * 7919) % 20000));
        check_true("it wrote something", n > 60);
}

/* Also of the very first start. */
static void open_and_wait(int tell) {
        Store *s = open_store("first.db");

        (void) write(tell, "x", 1);
        (void) pause();
        store_close(s);
}

TEST(crash_while_making) {
        for (unsigned round = 0; round < 40; round++) {
                static const char *const endings[] = { "first.db", "first.db-wal", "first.db.new", "first.db.new-wal",
                                                       "first.db.new-journal" };
                int status, fds[2];
                Store *s;
                pid_t pid;

                check_result("pipe", pipe2(fds, O_CLOEXEC), 0);
                pid = fork();
                check_true("fork", pid >= 0);
                if (pid == 0) {
                        open_and_wait(fds[1]);
                        _exit(0);
                }
                (void) usleep(round * 300);
                (void) kill(pid, SIGKILL);
                check_int("waitpid", waitpid(pid, &status, 0), pid);
                (void) close(fds[0]);
                (void) close(fds[1]);

                s = open_store("first.db");
                check_uint("rows", n_sandboxes(s), 0);
                store_close(s);
                for (size_t i = 0; i < ELEMENTSOF(endings); i++)
                        check_int(endings[i], access(unit_path(endings[i]), F_OK), i <= 1 ? 0 : -1); /* the log stays, for its room */
                for (size_t i = 0; i < ELEMENTSOF(endings); i++)
                        (void) unlink(unit_path(endings[i]));
        }
}

/* Sizes. */

static off_t file_size(const char *name) {
        struct stat st;

        return stat(unit_path(name), &st) < 0 ? 0 : st.st_size;
}

static void live_and_die(Store *s, unsigned i) {
        Sandbox sb = plain_sandbox(i);
        StoreEvent event = { .sandbox_id = sb.id, .type = "created", .text = "a few words about it" };
        Execution x = plain_execution(&sb, 1);

        write_one(s, i);
        x.status = EXECUTION_EXITED;
        check_result("execution", store_execution_update(s, &x), 0);
        for (unsigned j = 0; j < 3; j++)
                check_result("event", store_event_add(s, &event, NULL), 0);
        check_result("delete", store_sandbox_delete(s, sb.id), 0);
}

/* Bytes that the log has on the disk, whatever its length. */
static uint64_t log_room(const char *name) {
        char path[PATH_MAX];
        struct stat st;

        (void) snprintf(path, sizeof(path), "%s-wal", unit_path(name));
        check_int(path, stat(path, &st), 0);
        return (uint64_t) st.st_blocks * 512;
}

static bool log_has_bytes(const char *name) {
        char path[PATH_MAX], byte;
        _cleanup_close_ int fd = -EBADF;
        bool found = false;

        (void) snprintf(path, sizeof(path), "%s-wal", unit_path(name));
        fd = open(path, O_RDONLY | O_CLOEXEC);
        while (fd >= 0 && !found && read(fd, &byte, 1) == 1)
                found = byte != 0;
        return found;
}

TEST(no_growth) {
        Store *s = open_store("growth.db");
        off_t size, log_size;

        for (unsigned i = 0; i < 1000; i++)
                live_and_die(s, i);
        size = file_size("growth.db");
        log_size = file_size("growth.db-wal");
        for (unsigned i = 1000; i < 20000; i++)
                live_and_die(s, i);
        check_true("the file is there", size > 0 && log_size > 0);
        check_true("the file", file_size("growth.db") <= size);
        check_true("the log", file_size("growth.db-wal") <= log_size + (1 << 20));
        store_close(s);
        check_true("the log has nothing", !log_has_bytes("growth.db"));
}

/* A file that was large once is small after the next start. */
TEST(shrinks_at_start) {
        static char metadata[SANDBOX_METADATA_MAX];
        Store *s = open_store("shrink.db");
        off_t size;

        memset(metadata, 'm', sizeof(metadata) - 1);
        check_result("begin", store_begin(s), 0);
        for (unsigned i = 0; i < 1500; i++) {
                Sandbox sb = plain_sandbox(i);

                sb.spec.metadata = metadata;
                check_result("insert", store_sandbox_insert(s, &sb), 0);
        }
        check_result("commit", store_commit(s), 0);
        check_result("begin", store_begin(s), 0);
        for (unsigned i = 1; i < 1500; i++)
                check_result("delete", store_sandbox_delete(s, plain_sandbox(i).id), 0);
        check_result("commit", store_commit(s), 0);
        store_close(s);
        size = file_size("shrink.db");
        check_true("large", size > 16 << 20);

        s = open_store("shrink.db");
        check_uint("rows", n_sandboxes(s), 1);
        store_close(s);
        check_true("small", file_size("shrink.db") < 1 << 20);
}

TEST(no_leak_of_descriptors) {
        size_t n = unit_count_descriptors();

        for (unsigned i = 0; i < 3; i++)
                store_close(open_store("descriptors.db"));
        unit_write_text(unit_path("bad.db"), "nonsense");
        check_refused("bad.db", -EUCLEAN, "damaged");
        check_uint("descriptors", unit_count_descriptors(), n);
        check_true("nothing", store_close(NULL) == NULL);
}

TEST(nobody_else_reads) {
        Store *s;
        mode_t mask = umask(0);
        struct stat st;

        s = open_store("mode.db");
        (void) umask(mask);
        check_result("insert", store_sandbox_insert(s, &(Sandbox) { .id = "abcdefghijklmnopqrstu" }), 0);
        check_result("stat", stat(unit_path("mode.db"), &st), 0);
        check_uint("mode", st.st_mode & 07777, 0600);
        check_result("stat", stat(unit_path("mode.db-wal"), &st), 0);
        check_uint("mode of the log", st.st_mode & 07777, 0600);
        store_close(s);
}

/* Files that are not what they should be. */

TEST(second_daemon_is_refused) {
        int ready[2], status;
        char c;
        pid_t pid;
        Store *s;

        check_result("pipe", pipe2(ready, O_CLOEXEC), 0);
        pid = fork();
        check_true("fork", pid >= 0);
        if (pid == 0) {
                s = open_store("two.db");
                (void) write(ready[1], "x", 1);
                (void) pause();
                store_close(s);
                _exit(0);
        }
        check_int("the first is up", read(ready[0], &c, 1), 1);
        check_refused("two.db", -EBUSY, "in use by another process");
        (void) kill(pid, SIGKILL);
        check_int("waitpid", waitpid(pid, &status, 0), pid);
        s = open_store("two.db");
        store_close(s);
        (void) close(ready[0]);
        (void) close(ready[1]);
}

static void make_with_rows(const char *name) {
        Store *s = open_store(name);

        for (unsigned i = 0; i < 200; i++)
                live_and_die(s, i), write_one(s, i);
        store_close(s);
}

static void overwrite(const char *name, off_t at, const void *data, size_t size) {
        _cleanup_close_ int fd = open(unit_path(name), O_WRONLY | O_CLOEXEC);

        check_true(name, fd >= 0);
        check_int(name, pwrite(fd, data, size, at), (intmax_t) size);
}

TEST(damaged_files_are_refused) {
        static char garbage[8192];
        off_t size;

        memset(garbage, 0x5a, sizeof(garbage));
        unit_write_text(unit_path("text.db"), "This is not a database.\n");
        check_refused("text.db", -EUCLEAN, "damaged, or is no database");

        unit_write_file(unit_path("garbage.db"), garbage, sizeof(garbage));
        check_refused("garbage.db", -EUCLEAN, "damaged");
        check_int("left alone", file_size("garbage.db"), sizeof(garbage));

        unit_write_text(unit_path("empty.db"), "");
        check_refused("empty.db", -EUCLEAN, "empty");
        check_int("left alone", file_size("empty.db"), 0);

        make_with_rows("header.db");
        overwrite("header.db", 0, garbage, 16);
        check_refused("header.db", -EUCLEAN, "damaged");

        make_with_rows("middle.db");
        size = file_size("middle.db");
        overwrite("middle.db", size / 2 / 4096 * 4096, garbage, sizeof(garbage));
        check_refused("middle.db", -EUCLEAN, "damaged");
        check_int("left alone", file_size("middle.db"), size);

        make_with_rows("cut.db");
        check_result("truncate", truncate(unit_path("cut.db"), file_size("cut.db") / 2), 0);
        check_refused("cut.db", -EUCLEAN, "damaged");

        check_result("mkdir", mkdir(unit_path("directory.db"), 0700), 0);
        check_true("directory", store_open(unit_path("directory.db"), &(Store *) { NULL }, NULL) < 0);
        check_true("no directory", store_open("/nonexistent/x.db", &(Store *) { NULL }, NULL) == -ENOENT);
}

/* The file is lost and its log is there: committed rows may be in it. */
/* While a daemon runs, after it was killed, and while none runs: nobody else gets the room. What a log was left with is nobody's. */
TEST(log_keeps_its_room) {
        Store *s = open_store("room.db");
        uint64_t room = log_room("room.db");

        check_true("room", room >= 1 << 20);
        write_one(s, 0);
        check_true("still", log_room("room.db") >= room);
        s = store_close(s);
        check_true("closed", log_room("room.db") >= room);
        check_true("cleared", !log_has_bytes("room.db"));
        s = open_store("room.db");
        write_one(s, 1);
        check_true("opened", log_room("room.db") >= room);
        s = store_close(s);
        check_int("taken away", unlink(unit_path("room.db")), 0);
        s = open_store("room.db"); /* a log of nothing is no lone log */
        s = store_close(s);
}

TEST(lone_log_is_refused) {
        unit_write_text(unit_path("lost.db-wal"), "whatever");
        check_refused("lost.db", -EUCLEAN, "is missing, but its log");
        check_int("not made", access(unit_path("lost.db"), F_OK), -1);
}

/* Bytes 60 to 63 of the file are its version, 68 to 71 say whose it is. */
TEST(strange_databases_are_refused) {
        store_close(open_store("newer.db"));
        overwrite("newer.db", 60, (uint8_t[]) { 0, 0, 1, 0 }, 4);
        check_refused("newer.db", -EOPNOTSUPP, "written by a later cove (schema 256");

        store_close(open_store("foreign.db"));
        overwrite("foreign.db", 68, "abcd", 4);
        check_refused("foreign.db", -EMEDIUMTYPE, "another program");

        store_close(open_store("anonymous.db"));
        overwrite("anonymous.db", 68, (uint8_t[]) { 0, 0, 0, 0 }, 4);
        check_refused("anonymous.db", -EMEDIUMTYPE, "another program");
}

/* Half of a record, or a word that we do not know: an error, and not a shorter list. */
TEST(strange_rows_are_not_skipped) {
        static const char *const changes[] = {
                "UPDATE sandbox_state SET status = 'nonsense' WHERE id = 'a00000000000000000001'",
                "DELETE FROM sandbox_state WHERE id = 'a00000000000000000001'",
                "UPDATE sandbox SET env = x'61' WHERE id = 'a00000000000000000001'",
                "UPDATE sandbox SET uid = -1 WHERE id = 'a00000000000000000001'",
                "UPDATE sandbox SET critical = 2 WHERE id = 'a00000000000000000001'",
                "UPDATE sandbox SET profile = 'a' || char(0) || 'b' WHERE id = 'a00000000000000000001'",
                "UPDATE sandbox SET volumes = x'61006200630078787800' WHERE id = 'a00000000000000000001'", /* neither ro nor rw */
                /* Nine volumes; a sandbox has eight at the most. */
                ("UPDATE sandbox SET volumes = x'610062006300727700610062006300727700610062006300727700"
                 "610062006300727700610062006300727700610062006300727700"
                 "610062006300727700610062006300727700610062006300727700' WHERE id = 'a00000000000000000001'"),
        };

        for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
                size_t n = 0;
                sqlite3 *db;
                Store *s;

                (void) unlink(unit_path("rows.db"));
                s = open_store("rows.db");
                for (unsigned j = 0; j < 3; j++)
                        write_one(s, j);
                store_close(s);
                check_result("open", sqlite3_open(unit_path("rows.db"), &db), SQLITE_OK);
                check_result(changes[i], sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
                (void) sqlite3_close(db);
                s = open_store("rows.db");
                check_result(changes[i], store_sandbox_each(s, count_sandbox, &n), -EBADMSG);
                check_uint("those before it", n, 1);
                store_close(s);
        }
}

/* Migrations. */

static int64_t ask(sqlite3 *db, const char *sql) {
        sqlite3_stmt *st = NULL;
        int64_t value = -1;

        check_result(sql, sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
        if (sqlite3_step(st) == SQLITE_ROW)
                value = sqlite3_column_int64(st, 0);
        (void) sqlite3_finalize(st);
        return value;
}

TEST(migrations_in_order) {
        static const char *const sql[] = {
                "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);",
                "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 5;",
                "INSERT INTO a VALUES (2, 6); CREATE TABLE b (z); nonsense;",
        };
        Error error = { 0 };
        sqlite3 *db;

        check_result("open", sqlite3_open(":memory:", &db), SQLITE_OK);
        check_result("the first", migrations_apply(&(Migrations) { sql, 1 }, db, "db", &error), 0);
        check_int("version", ask(db, "PRAGMA user_version"), 1);
        check_result("data of then", sqlite3_exec(db, "INSERT INTO a VALUES (7)", NULL, NULL, NULL), SQLITE_OK);

        check_result("the second", migrations_apply(&(Migrations) { sql, 2 }, db, "db", &error), 0);
        check_int("version", ask(db, "PRAGMA user_version"), 2);
        check_int("rows", ask(db, "SELECT count(*) FROM a WHERE y = 5"), 2);
        check_result("the second again", migrations_apply(&(Migrations) { sql, 2 }, db, "db", &error), 0);
        check_int("rows", ask(db, "SELECT count(*) FROM a"), 2);

        check_true("the third is wrong", migrations_apply(&(Migrations) { sql, 3 }, db, "db", &error) < 0);
        check_int("version stays", ask(db, "PRAGMA user_version"), 2);
        check_int("rows stay", ask(db, "SELECT count(*) FROM a"), 2);
        check_int("no table", ask(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
        check_result("older than it", migrations_apply(&(Migrations) { sql, 1 }, db, "db", &error), -EOPNOTSUPP);
        check_part("words", error.text, "schema 2, this one knows 1");
        (void) sqlite3_close(db);
}

/* What has gone out into the world is not edited: a change is another migration, added behind it and to this list. */
#define EMPTY UINT64_C(14695981039346656037)
TEST(migrations_are_not_edited) {
        static const uint64_t sums[] = {
                UINT64_C(0x8e62bf0554324cb5), /* initial */
                UINT64_C(0x1ff8577ee2aa6a3c), /* core */
                UINT64_C(0x4c796b84c64fe745), /* jobs */
                UINT64_C(0xd632d0813c8838a0), /* history */
                UINT64_C(0xa6c368f5bb57aaa2), /* alerts */
                UINT64_C(0x81b1e341cb40c303), /* artifacts */
                UINT64_C(0xdb403b1af1a50c34), /* cleanup */
                UINT64_C(0xa0ed696c117e0d53), /* network */
                UINT64_C(0xd3e1302d68087dbc), /* secrets */
                UINT64_C(0x954443da8c6e4813), /* previews */
                UINT64_C(0xc3f28f7ba968d395), /* policies */
                UINT64_C(0x21686d472a846cd5), /* state */
                UINT64_C(0x6c4e677c77337be5), /* images */
                UINT64_C(0xf5e5feab83416aad), /* volumes */
                UINT64_C(0xe55177799ddb1013), /* dialect */
                UINT64_C(0x1ff5b00a7c618f60), /* builds */
                UINT64_C(0x175358870cf27ca8), /* sudo */
                UINT64_C(0x0058372fdc596950), /* bound */
        };

        check_uint("migrations", store_migrations.n, ELEMENTSOF(sums));
        for (size_t i = 0; i < store_migrations.n; i++) {
                uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */

                for (const char *p = store_migrations.sql[i]; *p; p++)
                        sum = (sum ^ (uint8_t) *p) * UINT64_C(1099511628211);
                check_uint("sum of a migration", sum, sums[i]);
        }
}

static bool is_asked_for_tenants(const char *table) {
        char wanted[128];
        bool found = false;

        (void) snprintf(wanted, sizeof(wanted), " FROM %s WHERE tenant = ?1", table);
        for (size_t i = 0; i < tenant_table.n_queries; i++)
                found |= strstr(tenant_table.queries[i], wanted) != NULL;
        return found;
}

/* A table whose rows are a tenant's is one of those that keep its name from being used again (store_tenant_left()), or is cleared when the tenant goes. */
TEST(tables_of_tenants_are_known) {
        Error error = { 0 };
        sqlite3 *db = NULL;
        sqlite3_stmt *q = NULL;
        unsigned n = 0;

        check_result("open", sqlite3_open(":memory:", &db), SQLITE_OK);
        check_result("migrate", migrations_apply(&store_migrations, db, "db", &error), 0);
        check_result("tables", sqlite3_prepare_v2(db, "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'tenant'"
                                                      " AND m.name != 'key'", /* which refers to it: SQLite keeps it */
                                               -1, &q, NULL), SQLITE_OK);
        for (; sqlite3_step(q) == SQLITE_ROW; n++) {
                const char *name = (const char *) sqlite3_column_text(q, 0);

                check_true(name, is_asked_for_tenants(name));
        }
        check_uint("a query for each, and the one for all", n + 1, (unsigned) tenant_table.n_queries);
        (void) sqlite3_finalize(q);
        (void) sqlite3_close(db);
}
