/* Ports that everybody may look at. */
#include "store/schema.h"

const char schema_previews[] =
        "CREATE TABLE preview ("
        "  sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE,"
        "  port INTEGER NOT NULL,"
        "  PRIMARY KEY (sandbox, port)"
        ") STRICT, WITHOUT ROWID;";
