/* json.h: the door to jansson.
 *
 * Whoever speaks JSON includes this and not the library. */
#pragma once

#include <jansson.h>

#include "base/macro.h"

#define _cleanup_json_ _cleanup_(json_decrefp)

/* Writes the value and a newline. Negative errno on failure. */
int json_write_fd(int fd, const json_t *value);
