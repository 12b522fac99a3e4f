/* Agent executions: a durable queue. */
#include "store/schema.h"

const char schema_jobs[] = "";
