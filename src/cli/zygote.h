/* zygote.h: checks whether a host process could enter a sandbox as its user, as the children of zygotes do,
 * by trying it. For `cove doctor`. */
#pragma once

#include "jail/probe.h"

#define ZYGOTE_NAME    "zygotes"
#define ZYGOTE_PURPOSE "interpreters with modules loaded, forked into sandboxes"

Finding probe_zygote(bool privileged);
