/* settings.h: the daemon's view of cove.yaml: its path, and the names that the daemon knows and the config
 * room does not. */
#pragma once

#include <stdbool.h>

#include "config/config.h"

/* /etc/cove/cove.yaml for root, ~/.config/cove/cove.yaml for others. NULL: no HOME, or out of memory. The
 * file need not exist. The caller frees. */
char *settings_default_path(void);

const ConfigHooks *settings_hooks(void);

/* Logs each complaint as a line; the error contains only their number. */
int settings_read(const char *path, Config **ret, Error *reterr);

/* For --check-config: prints to stdout and returns the exit status. path "": the default file. */
int settings_check(const char *path, bool json);
