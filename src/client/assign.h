/* assign.h: NAME=VALUE pairs from options and files: environments, metadata. Knows libc and base. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

#define ASSIGN_MAX 1024

/* NAME=VALUE; a later one replaces an earlier one. `option` goes in front of complaints. */
int assign_pair(Strv *v, const char *option, const char *value, Error *reterr);

/* As above, and NAME alone is the caller's own variable. */
int assign_env(Strv *v, const char *option, const char *value, Error *reterr);

/* Lines of NAME=VALUE; empty ones and those that begin with # are skipped. */
int assign_env_file(Strv *v, const char *option, const char *path, Error *reterr);
