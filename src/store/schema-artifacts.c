/* What was kept of an execution. */
#include "store/schema.h"

const char schema_artifacts[] = "";
