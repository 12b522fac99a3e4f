/* helper.h: cove-archive, started for one thing and waited for. Its last line on stderr is an errno and a sentence. Must not know: builds. */
#pragma once

#include <systemd/sd-event.h>

#include "base/error.h"

typedef struct BuildHelper BuildHelper;
typedef void (*BuildHelperDone)(const Error *error /* NULL: well */, void *userdata); /* it is gone then */

/* fds: 0, 1, the worker's channel, a list; -EBADF: nothing. Copied. */
int build_helper_start(sd_event *event, const char *const *arguments, const int fds[static 4], BuildHelperDone done, void *userdata, BuildHelper **ret,
                Error *reterr);
BuildHelper *build_helper_free(BuildHelper *h); /* ends it; nothing is told */
