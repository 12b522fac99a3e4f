/* Persistent sandboxes, snapshots and volumes. */
#include "store/schema.h"

const char schema_state[] =
        "ALTER TABLE sandbox ADD COLUMN persistent INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox ADD COLUMN layer TEXT;"
        "ALTER TABLE sandbox ADD COLUMN base TEXT;"
        "ALTER TABLE sandbox ADD COLUMN digest TEXT;"
        "ALTER TABLE sandbox ADD COLUMN snapshot TEXT;" /* may be deleted */
        "ALTER TABLE sandbox ADD COLUMN parent TEXT;"   /* likewise */
        "ALTER TABLE sandbox ADD COLUMN volumes BLOB NOT NULL DEFAULT x'';"
        "ALTER TABLE sandbox ADD COLUMN record INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox_state ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox_state ADD COLUMN cpu_before_usec INTEGER NOT NULL DEFAULT 0;"

        "CREATE TABLE snapshot ("
        "  serial INTEGER PRIMARY KEY," /* the order in which they were taken */
        "  id TEXT NOT NULL UNIQUE,"
        "  name TEXT,"
        "  tenant TEXT NOT NULL,"
        "  sandbox TEXT NOT NULL,"  /* may be deleted */
        "  parent TEXT,"            /* likewise */
        "  comment TEXT,"
        "  pending INTEGER NOT NULL,"
        "  bytes INTEGER NOT NULL,"
        "  created_at INTEGER NOT NULL,"
        /* The settings of a sandbox that is made of the snapshot. */
        "  template_name TEXT,"
        "  profile TEXT,"
        "  agent_type TEXT,"
        "  task_id TEXT,"
        SCHEMA_LIMITS
        "  metadata TEXT,"
        "  critical INTEGER NOT NULL,"
        "  network INTEGER NOT NULL,"
        "  network_group TEXT,"
        "  policy TEXT,"
        "  layer TEXT,"
        "  base TEXT,"
        "  digest TEXT,"
        "  volumes BLOB NOT NULL,"
        "  record INTEGER NOT NULL,"
        "  timeout_usec INTEGER NOT NULL,"
        "  on_timeout TEXT NOT NULL"
        ") STRICT;"
        "CREATE UNIQUE INDEX snapshot_by_name ON snapshot (tenant, name) WHERE name IS NOT NULL AND pending = 0;";
