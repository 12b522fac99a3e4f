/* What a surface remembers of its sandboxes, and when they were woken. */
#include "store/schema.h"

const char schema_dialect[] =
        "ALTER TABLE sandbox ADD COLUMN dialect TEXT;"
        "ALTER TABLE snapshot ADD COLUMN dialect TEXT;"
        "ALTER TABLE sandbox_state ADD COLUMN resumed_at INTEGER NOT NULL DEFAULT 0;";
