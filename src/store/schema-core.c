/* Profiles, pools, admission: what the core has learned beside sandboxes and executions. */
#include "store/schema.h"

const char schema_core[] =
        "ALTER TABLE key ADD COLUMN may_loosen INTEGER NOT NULL DEFAULT 0;";
