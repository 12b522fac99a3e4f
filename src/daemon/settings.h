/* settings.h: cove.yaml, from the daemon's point of view: where it lies, and which names the daemon knows that the config room
 * does not. */
#pragma once

#include <stdbool.h>

#include "config/config.h"

/* /etc/cove/cove.yaml for root, ~/.config/cove/cove.yaml for others; NULL: no HOME or no memory. It need not exist. The caller frees. */
char *settings_default_path(void);

const ConfigHooks *settings_hooks(void);

/* Every complaint is a line in the log; the error then only counts them. */
int settings_read(const char *path, Config **ret, Error *reterr);

/* For --check-config: tells on stdout, gives the exit status. path "": the default one. */
int settings_check(const char *path, bool json);
