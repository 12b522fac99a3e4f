/* zygote.h: whether a process of the host could enter a sandbox as its user, the way zygotes' children do, tried for real. For `cove doctor`. */
#pragma once

#include "jail/probe.h"

#define ZYGOTE_NAME    "zygotes"
#define ZYGOTE_PURPOSE "interpreters with modules loaded, forked into sandboxes"

Finding probe_zygote(bool privileged);
