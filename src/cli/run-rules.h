/* run-rules.h: options of `cove run` about what the guest may do with files and processes (wire/rules.h).
 *
 * Must not know: how any of it is enforced. */
#pragma once

#include "base/error.h"

int apply_read_only_path(void *target, const char *value, Error *reterr);
int apply_writable_path(void *target, const char *value, Error *reterr);
int apply_deny_path(void *target, const char *value, Error *reterr);
int apply_max_file_size(void *target, const char *value, Error *reterr);
int apply_no_processes(void *target, const char *value, Error *reterr);
