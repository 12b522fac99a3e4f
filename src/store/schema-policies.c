/* Policies of agent executions: what holds is what was so when they were asked for. */
#include "store/schema.h"

const char schema_policies[] =
        "ALTER TABLE job ADD COLUMN network INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE job ADD COLUMN network_group TEXT;"
        "ALTER TABLE job ADD COLUMN policy TEXT;";
