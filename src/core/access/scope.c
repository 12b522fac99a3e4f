/* Names of scopes. Apart from access.c, since the store writes them and access.c uses the store. */
#include "core/access.h"

static const char *const scopes[_SCOPE_MAX] = {
        [SCOPE_READ]  = "read",
        [SCOPE_USE]   = "use",
        [SCOPE_ADMIN] = "admin",
};
const ShapeNames scope_names = SHAPE_WORDS(scopes);

const char *scope_name(Scope s) {
        return shape_name(&scope_names, (int) s);
}

Scope scope_from_name(const char *name) {
        return (Scope) shape_value(&scope_names, name);
}
