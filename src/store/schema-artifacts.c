/* Artifacts of executions. */
#include "store/schema.h"

const char schema_artifacts[] =
        "CREATE TABLE artifact ("
        "  serial INTEGER PRIMARY KEY AUTOINCREMENT," /* the order of creation; never reused, so that a cursor stays valid */
        "  id TEXT NOT NULL UNIQUE,"
        "  owner_kind TEXT NOT NULL,"
        "  owner_id TEXT NOT NULL,"
        "  tenant TEXT,"
        "  name TEXT NOT NULL,"
        "  type TEXT NOT NULL,"
        "  sha256 TEXT NOT NULL,"
        "  size INTEGER NOT NULL,"
        "  truncated INTEGER NOT NULL,"
        "  created_at INTEGER NOT NULL,"
        "  state TEXT NOT NULL,"
        "  attempts INTEGER NOT NULL,"
        "  error TEXT,"
        "  place TEXT"
        ") STRICT;"
        "CREATE INDEX artifact_owner ON artifact (owner_id, serial);"
        "CREATE INDEX artifact_state ON artifact (state, serial);"
        "CREATE INDEX artifact_here ON artifact (serial) WHERE state <> 'remote';";
