/* What was measured, by the minute and by the hour. */
#include "store/schema.h"

const char schema_history[] = "";
