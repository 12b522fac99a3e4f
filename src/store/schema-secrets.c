/* Sealed secrets. */
#include "store/schema.h"

const char schema_secrets[] =
        "CREATE TABLE secret ("
        "  tenant TEXT NOT NULL," /* '': nobody's */
        "  name TEXT NOT NULL,"
        "  sealed BLOB NOT NULL,"
        "  created_at INTEGER NOT NULL,"
        "  updated_at INTEGER NOT NULL,"
        "  PRIMARY KEY (tenant, name)"
        ") STRICT, WITHOUT ROWID;"

        /* Whoever gets the name of a tenant that is gone must not inherit. */
        "CREATE TRIGGER secret_of_tenant AFTER DELETE ON tenant BEGIN"
        "  DELETE FROM secret WHERE tenant = old.name;"
        "END;"

        /* Shows whether a key is the one. */
        "CREATE TABLE vault ("
        "  id INTEGER PRIMARY KEY CHECK (id = 1),"
        "  sealed BLOB NOT NULL"
        ") STRICT;"

        /* What a sandbox was given, as it was then: to be hidden in what it prints, also when the secret has changed since. */
        "CREATE TABLE secret_given ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  number INTEGER NOT NULL,"
        "  sealed BLOB NOT NULL,"
        "  PRIMARY KEY (sandbox, number)"
        ") STRICT, WITHOUT ROWID;";
