/* Names of scopes. Apart from access.c, since the store writes them and access.c uses the store. */
#include "core/access.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const scopes[_SCOPE_MAX] = {
        [SCOPE_READ]  = "read",
        [SCOPE_USE]   = "use",
        [SCOPE_ADMIN] = "admin",
};

const char *scope_name(Scope s) {
        return (int) s >= 0 && s < _SCOPE_MAX ? scopes[s] : NULL;
}

Scope scope_from_name(const char *name) {
        for (int i = 0; name && i < _SCOPE_MAX; i++)
                if (strcmp(scopes[i], name) == 0)
                        return (Scope) i;
        return _SCOPE_INVALID;
}
