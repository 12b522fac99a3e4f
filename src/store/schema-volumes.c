/* Volumes: directories that belong to no sandbox. */
#include "store/schema.h"

const char schema_volumes[] =
        "CREATE TABLE volume ("
        "  serial INTEGER PRIMARY KEY," /* the order in which they were made */
        "  id TEXT NOT NULL UNIQUE,"
        "  name TEXT NOT NULL,"
        "  tenant TEXT NOT NULL,"
        "  byte_limit INTEGER NOT NULL,"
        "  pending INTEGER NOT NULL," /* being made or removed */
        "  created_at INTEGER NOT NULL,"
        "  UNIQUE (tenant, name)"
        ") STRICT;";
