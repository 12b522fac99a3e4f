#include "client/execution/detach.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

int detach_key_parse(const char *text, int *ret, Error *reterr) {
        if (strcmp(text, "none") == 0) {
                *ret = SESSION_KEY_NONE;
                return 0;
        }
        if (strlen(text) != 2 || text[0] != '^' || text[1] < '@' || text[1] > '~')
                return error_set(reterr, -EINVAL, "--detach-key: '%s' is no key with Ctrl, as in ^P, and not none", text);
        *ret = text[1] & 0x1f;
        return 0;
}

int detach_tell(const Session *s, int status) {
        if (s->left && s->link->execution)
                log_error("left %s alone; `cove attach %s %s` comes back to it", s->link->execution, s->link->sandbox,
                                s->link->execution);
        return status;
}
