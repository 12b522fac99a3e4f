/* Profiles, pools, admission: what the core has learned beside sandboxes and executions. */
#include "store/schema.h"

const char schema_core[] =
        "ALTER TABLE key ADD COLUMN may_loosen INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox ADD COLUMN pooled INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox ADD COLUMN claimed_at INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE sandbox_state ADD COLUMN cpu_others_usec INTEGER NOT NULL DEFAULT 0;";
