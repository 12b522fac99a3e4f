/* Networks: settings, usage, denials and learned connections of each sandbox, and the decisions of operators. */
#include "store/schema.h"

const char schema_network[] =
        "ALTER TABLE sandbox ADD COLUMN network INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox ADD COLUMN network_group TEXT;"
        "ALTER TABLE sandbox ADD COLUMN address INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox ADD COLUMN policy TEXT;"
        "ALTER TABLE job_state ADD COLUMN network_requests INTEGER NOT NULL DEFAULT 0;"

        "CREATE TABLE network_use ("
        "  sandbox TEXT PRIMARY KEY REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  up_bytes INTEGER NOT NULL,"
        "  down_bytes INTEGER NOT NULL,"
        "  requests INTEGER NOT NULL,"
        "  denied INTEGER NOT NULL,"
        "  base_up_bytes INTEGER NOT NULL," /* the part from before the gate began to count */
        "  base_down_bytes INTEGER NOT NULL,"
        "  base_requests INTEGER NOT NULL,"
        "  base_denied INTEGER NOT NULL"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE denial ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  number INTEGER NOT NULL," /* counts those of this one, from 1 */
        "  at INTEGER NOT NULL,"
        "  kind TEXT NOT NULL,"
        "  protocol TEXT,"
        "  host TEXT,"
        "  address TEXT,"
        "  port INTEGER NOT NULL,"
        "  method TEXT,"
        "  path TEXT,"
        "  rule TEXT,"
        "  reason TEXT,"
        "  text TEXT,"
        "  cure TEXT,"
        "  count INTEGER NOT NULL,"
        "  PRIMARY KEY (sandbox, number)"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE learned (" /* each connection once */
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  protocol TEXT NOT NULL,"
        "  host TEXT NOT NULL,"
        "  address TEXT NOT NULL,"
        "  port INTEGER NOT NULL,"
        "  method TEXT NOT NULL,"
        "  count INTEGER NOT NULL,"
        "  at INTEGER NOT NULL,"
        "  PRIMARY KEY (sandbox, protocol, host, address, port, method)"
        ") STRICT, WITHOUT ROWID;"

        "CREATE TABLE approval ("
        "  serial INTEGER PRIMARY KEY," /* the order of the requests */
        "  id TEXT NOT NULL UNIQUE,"
        "  ask TEXT NOT NULL," /* the gate's name for it */
        "  sandbox TEXT NOT NULL," /* may be deleted */
        "  tenant TEXT NOT NULL,"
        "  profile TEXT,"
        "  object TEXT NOT NULL,"
        "  rule TEXT NOT NULL,"
        "  status TEXT NOT NULL,"
        "  asked_at INTEGER NOT NULL,"
        "  expires_at INTEGER NOT NULL,"
        "  answered_at INTEGER NOT NULL,"
        "  scope TEXT,"
        "  answered_by TEXT"
        ") STRICT;"
        "CREATE INDEX approval_by_status ON approval (status, serial);"
        "CREATE INDEX approval_by_ask ON approval (ask);"
        "CREATE INDEX approval_by_tenant ON approval (tenant, serial);"

        "CREATE TABLE network_grant ("
        "  serial INTEGER PRIMARY KEY,"
        "  sandbox TEXT REFERENCES sandbox (id) ON DELETE CASCADE," /* or, for all later ones: */
        "  tenant TEXT,"
        "  profile TEXT,"
        "  rule TEXT NOT NULL,"
        "  at INTEGER NOT NULL,"
        "  UNIQUE (sandbox, rule),"
        "  UNIQUE (tenant, profile, rule)"
        ") STRICT;";
