/* Sealed secrets. */
#include "store/schema.h"

const char schema_secrets[] =
        "CREATE TABLE secret ("
        "  tenant TEXT NOT NULL," /* '': of no tenant */
        "  name TEXT NOT NULL,"
        "  sealed BLOB NOT NULL,"
        "  created_at INTEGER NOT NULL,"
        "  updated_at INTEGER NOT NULL,"
        "  PRIMARY KEY (tenant, name)"
        ") STRICT, WITHOUT ROWID;"

        /* A new tenant with the name of a deleted one must not inherit. */
        "CREATE TRIGGER secret_of_tenant AFTER DELETE ON tenant BEGIN"
        "  DELETE FROM secret WHERE tenant = old.name;"
        "END;"

        /* To check that a key is the right one. */
        "CREATE TABLE vault ("
        "  id INTEGER PRIMARY KEY CHECK (id = 1),"
        "  sealed BLOB NOT NULL"
        ") STRICT;"

        /* The values that a sandbox was given, so that they are hidden in its output even after the secret has
         * changed. */
        "CREATE TABLE secret_given ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  number INTEGER NOT NULL,"
        "  sealed BLOB NOT NULL,"
        "  PRIMARY KEY (sandbox, number)"
        ") STRICT, WITHOUT ROWID;";
