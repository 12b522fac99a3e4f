#include "tree/attributes.h"

#include <string.h>

bool attribute_is_kept(const char *name) {
        if (strcmp(name, "security.capability") == 0)
                return true;
        return strncmp(name, "user.", 5) == 0 && strncmp(name, "user.overlay.", 13) != 0;
}
