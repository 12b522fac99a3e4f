#include "client/execution/detach.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

OPTION_KIND(detach_key) {
        int *key = (int *) (void *) ((char *) target + o->offset);

        if (strcmp(value, "none") == 0) {
                *key = SESSION_KEY_NONE;
                return 0;
        }
        if (strlen(value) != 2 || value[0] != '^' || value[1] < '@' || value[1] > '~')
                return error_set(reterr, -EINVAL, "--detach-key: '%s' is no key with Ctrl, as in ^P, and not none", value);
        *key = value[1] & 0x1f;
        return 0;
}

int detach_tell(const Session *s, int status) {
        if (s->left && s->link->execution)
                log_error("left %s alone; `cove attach %s %s` comes back to it", s->link->execution, s->link->sandbox,
                                s->link->execution);
        return status;
}
