#include "store/migrations.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macro.h"
#include "store/schema.h"
#include "store/statement.h"

#define APPLICATION_ID 0x636f7665 /* "cove" */

/* Conventions of the tables: names of columns are names of members; times are microseconds since 1970; enums
 * are stored as names; lists of strings are blobs in which a NUL ends each string. A request and its state are
 * two tables, because an update writes a whole row, and the request can be large (environment, arguments,
 * metadata). */

static const char initial[] =
        "CREATE TABLE tenant ("
        "  name TEXT PRIMARY KEY,"
        "  sandboxes_max INTEGER NOT NULL,"
        "  cpu_milli_max INTEGER NOT NULL,"
        "  memory_bytes_max INTEGER NOT NULL,"
        "  disk_bytes_max INTEGER NOT NULL,"
        "  created_at INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE key ("
        "  serial INTEGER PRIMARY KEY," /* the order in which they were made */
        "  id TEXT NOT NULL UNIQUE,"
        "  name TEXT NOT NULL,"
        "  scope TEXT NOT NULL,"
        "  tenant TEXT REFERENCES tenant (name),"
        "  hash BLOB NOT NULL UNIQUE,"
        "  prefix TEXT NOT NULL,"
        "  created_at INTEGER NOT NULL,"
        "  last_used_at INTEGER NOT NULL"
        ") STRICT;"

        "CREATE TABLE sandbox ("
        "  serial INTEGER PRIMARY KEY," /* the order in which they were made */
        "  id TEXT NOT NULL UNIQUE,"
        "  created_at INTEGER NOT NULL,"
        "  name TEXT,"
        "  tenant TEXT,"
        "  template_name TEXT,"
        "  profile TEXT,"
        "  agent_type TEXT,"
        "  task_id TEXT,"
        SCHEMA_LIMITS
        "  metadata TEXT,"
        "  critical INTEGER NOT NULL"
        ") STRICT;"

        "CREATE TABLE sandbox_state ("
        "  id TEXT PRIMARY KEY REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  status TEXT NOT NULL,"
        "  reason TEXT,"
        "  changed_at INTEGER NOT NULL,"
        "  ready_at INTEGER NOT NULL,"
        "  ended_at INTEGER NOT NULL,"
        "  expires_at INTEGER NOT NULL,"
        "  timeout_usec INTEGER NOT NULL,"
        "  on_timeout TEXT NOT NULL,"
        "  guards_missing INTEGER NOT NULL,"
        "  id_base INTEGER NOT NULL,"
        "  pid INTEGER NOT NULL,"
        "  last_execution INTEGER NOT NULL,"
        "  operations INTEGER NOT NULL,"
        "  oom_seen INTEGER NOT NULL,"
        "  end_status TEXT NOT NULL,"
        "  end_delete INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE execution ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  number INTEGER NOT NULL,"
        "  args BLOB NOT NULL,"
        "  env BLOB NOT NULL,"
        "  cwd TEXT,"
        "  has_user INTEGER NOT NULL,"
        "  uid INTEGER NOT NULL,"
        "  gid INTEGER NOT NULL,"
        "  has_timeout INTEGER NOT NULL,"
        "  timeout_usec INTEGER NOT NULL,"
        "  stdin_open INTEGER NOT NULL,"
        "  pty INTEGER NOT NULL,"
        "  background INTEGER NOT NULL,"
        "  tag TEXT,"
        "  PRIMARY KEY (sandbox, number)"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE execution_state ("
        "  sandbox TEXT NOT NULL,"
        "  number INTEGER NOT NULL,"
        "  status TEXT NOT NULL,"
        "  reason TEXT,"
        "  exit_code INTEGER NOT NULL,"
        "  signal INTEGER NOT NULL,"
        "  message TEXT,"
        "  pid INTEGER NOT NULL,"
        "  started_at INTEGER NOT NULL,"
        "  ended_at INTEGER NOT NULL,"
        "  duration_usec INTEGER NOT NULL,"
        "  user_usec INTEGER NOT NULL,"
        "  system_usec INTEGER NOT NULL,"
        "  max_rss_bytes INTEGER NOT NULL,"
        "  stdout_bytes INTEGER NOT NULL,"
        "  stdout_truncated INTEGER NOT NULL,"
        "  stderr_bytes INTEGER NOT NULL,"
        "  stderr_truncated INTEGER NOT NULL,"
        "  columns INTEGER NOT NULL,"
        "  rows INTEGER NOT NULL,"
        "  stdin_closed INTEGER NOT NULL,"
        "  journals_gone INTEGER NOT NULL,"
        "  kill_reason TEXT,"
        "  PRIMARY KEY (sandbox, number),"
        "  FOREIGN KEY (sandbox, number) REFERENCES execution (sandbox, number) ON DELETE CASCADE"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE ledger ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  kind TEXT NOT NULL,"
        "  name TEXT NOT NULL,"
        "  PRIMARY KEY (sandbox, kind, name)"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE event ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  serial INTEGER NOT NULL," /* grows over all sandboxes */
        "  number INTEGER NOT NULL," /* counts those of this one, from 1 */
        "  at INTEGER NOT NULL,"
        "  type TEXT NOT NULL,"
        "  execution TEXT,"
        "  text TEXT,"
        "  PRIMARY KEY (sandbox, serial)"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE counter ("
        "  name TEXT PRIMARY KEY,"
        "  value INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID;";

static const char *const migrations[] = {
        initial,

        /* Profiles, pools and admission. */
        "ALTER TABLE key ADD COLUMN may_loosen INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox ADD COLUMN pooled INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox ADD COLUMN claimed_at INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox_state ADD COLUMN cpu_others_usec INTEGER NOT NULL DEFAULT 0;",
        schema_jobs,
        schema_history,
        schema_alerts,
        schema_artifacts,
        schema_cleanup,
        schema_network,
        schema_secrets,
        /* Ports that are public. */
        "CREATE TABLE preview ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  port INTEGER NOT NULL,"
        "  PRIMARY KEY (sandbox, port)"
        ") STRICT, WITHOUT ROWID;",
        /* Policies of agent executions, as they were at the request. */
        "ALTER TABLE job ADD COLUMN network INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE job ADD COLUMN network_group TEXT;"
        "ALTER TABLE job ADD COLUMN policy TEXT;",
        schema_state,
        schema_images,
        /* Volumes: directories that belong to no sandbox. */
        "CREATE TABLE volume ("
        "  serial INTEGER PRIMARY KEY," /* the order in which they were made */
        "  id TEXT NOT NULL UNIQUE,"
        "  name TEXT NOT NULL,"
        "  tenant TEXT NOT NULL,"
        "  byte_limit INTEGER NOT NULL,"
        "  pending INTEGER NOT NULL," /* being made or removed */
        "  created_at INTEGER NOT NULL,"
        "  UNIQUE (tenant, name)"
        ") STRICT;",
        /* The dialect of the surface that made the sandbox, and the time of the last resume. */
        "ALTER TABLE sandbox ADD COLUMN dialect TEXT;"
        "ALTER TABLE snapshot ADD COLUMN dialect TEXT;"
        "ALTER TABLE sandbox_state ADD COLUMN resumed_at INTEGER NOT NULL DEFAULT 0;",
        schema_builds,
        /* Whether the user of a sandbox may become root in it. */
        "ALTER TABLE sandbox ADD COLUMN sudo INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE snapshot ADD COLUMN sudo INTEGER NOT NULL DEFAULT 0;",
        /* The profile that a key is bound to, or all keys of a tenant. */
        "ALTER TABLE key ADD COLUMN profile TEXT;"
        "ALTER TABLE tenant ADD COLUMN profile TEXT;",
};

const Migrations store_migrations = { migrations, ELEMENTSOF(migrations) };

static int apply_one(sqlite3 *db, const char *sql, size_t version) {
        char seal[128];
        int rc;

        (void) snprintf(seal, sizeof(seal), "PRAGMA application_id = %d; PRAGMA user_version = %zu; COMMIT", APPLICATION_ID,
                        version);
        rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_exec(db, seal, NULL, NULL, NULL);
        if (rc != SQLITE_OK && !sqlite3_get_autocommit(db)) {
                int r = sqlite_result(db, rc);

                (void) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
                return r;
        }
        return sqlite_result(db, rc);
}

int migrations_apply(const Migrations *m, sqlite3 *db, const char *path, Error *reterr) {
        int64_t application = 0, version = 0, n_objects = 0;
        int r;

        r = sqlite_get(db, "PRAGMA application_id", &application);
        if (r >= 0)
                r = sqlite_get(db, "PRAGMA user_version", &version);
        if (r >= 0)
                r = sqlite_get(db, "SELECT count(*) FROM sqlite_schema", &n_objects);
        if (r < 0)
                return sqlite_error(reterr, r, db, path);

        if (application != APPLICATION_ID && (application != 0 || version != 0 || n_objects != 0))
                return error_set(reterr, -EMEDIUMTYPE,
                                "'%s' is a database of another program: move it away, or use another state directory", path);
        if (version < 0 || (uint64_t) version > m->n)
                return error_set(reterr, -EOPNOTSUPP,
                                "'%s' was written by a later cove (schema %lld, this one knows %zu): run that version, or "
                                "use another state directory",
                                path, (long long) version, m->n);

        for (size_t i = (size_t) version; i < m->n; i++) {
                r = apply_one(db, m->sql[i], i + 1);
                if (r < 0)
                        return sqlite_error(reterr, r, db, path);
        }
        return 0;
}
