/* Measurements by minute and by hour; usage of each sandbox, and of all of them by hour. */
#include "store/schema.h"

const char schema_history[] =
        "CREATE TABLE history ("
        "  hourly INTEGER NOT NULL,"
        "  at INTEGER NOT NULL,"
        "  span INTEGER NOT NULL,"
        "  body TEXT NOT NULL,"
        "  PRIMARY KEY (hourly, at)"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE totals ("
        "  id INTEGER PRIMARY KEY CHECK (id = 1),"
        "  body TEXT NOT NULL"
        ") STRICT;"

        "CREATE TABLE usage ("
        "  serial INTEGER PRIMARY KEY,"
        "  sandbox TEXT NOT NULL,"
        "  tenant TEXT,"
        "  agent_type TEXT,"
        "  task_id TEXT,"
        "  started_at INTEGER NOT NULL,"
        "  ended_at INTEGER NOT NULL,"
        "  cpu_usec INTEGER NOT NULL,"
        "  memory_byte_seconds INTEGER NOT NULL,"
        "  egress_bytes INTEGER NOT NULL,"
        "  memory_peak_bytes INTEGER NOT NULL,"
        "  basis TEXT NOT NULL"
        ") STRICT;"
        "CREATE INDEX usage_ended ON usage (ended_at);"
        "CREATE INDEX usage_tenant ON usage (tenant, ended_at) WHERE tenant IS NOT NULL;"

        "CREATE TABLE usage_hour ("
        "  at INTEGER NOT NULL,"
        "  tenant TEXT NOT NULL,"     /* "": none */
        "  agent_type TEXT NOT NULL," /* likewise */
        "  sandboxes INTEGER NOT NULL,"
        "  lifetime_usec INTEGER NOT NULL,"
        "  cpu_usec INTEGER NOT NULL,"
        "  memory_byte_seconds INTEGER NOT NULL,"
        "  egress_bytes INTEGER NOT NULL,"
        "  memory_peak_bytes INTEGER NOT NULL,"
        "  PRIMARY KEY (at, tenant, agent_type)"
        ") STRICT, WITHOUT ROWID;";
