/* Runs of the cleaners. */
#include "store/schema.h"

const char schema_cleanup[] = "";
