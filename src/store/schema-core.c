/* Profiles, pools, admission: what the core has learned beside sandboxes and executions. */
#include "store/schema.h"

const char schema_core[] = "";
