/* Names of scopes. Separate from access.c, because the store needs them and access.c uses the store. */
#include "core/access.h"

static const char *const scopes[_SCOPE_MAX] = {
        [SCOPE_READ]  = "read",
        [SCOPE_USE]   = "use",
        [SCOPE_ADMIN] = "admin",
};
const ShapeNames scope_names = SHAPE_WORDS(scopes);
SHAPE_NAMED(scope_name, scope_from_name, Scope, scope_names);
