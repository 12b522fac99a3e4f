/* Whether the user of a sandbox may become root in it. */
#include "store/schema.h"

const char schema_sudo[] =
        "ALTER TABLE sandbox ADD COLUMN sudo INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE snapshot ADD COLUMN sudo INTEGER NOT NULL DEFAULT 0;";
