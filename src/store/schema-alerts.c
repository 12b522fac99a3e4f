/* Alerts and their deliveries. */
#include "store/schema.h"

const char schema_alerts[] = "";
