/* credential.c: recognizes cove's credentials by their form. */

#include <ctype.h>
#include <string.h>

#include "base/macro.h"
#include "core/access.h"
#include "core/sandbox.h"

static const struct {
        const char *prefix;
        size_t digits;
        size_t before; /* letters and digits in front of the prefix */
} credential_forms[] = {
        { CREDENTIAL_KEY,     ACCESS_KEY_LENGTH - strlen(CREDENTIAL_KEY), 0                 },
        { CREDENTIAL_ADMIN,   CREDENTIAL_DIGITS,                          0                 },
        { CREDENTIAL_VOLUME,  CREDENTIAL_DIGITS,                          0                 },
        { CREDENTIAL_SANDBOX, CREDENTIAL_DIGITS,                          SANDBOX_ID_LENGTH },
};

static bool credential_is_behind(const char *text, const char *at, size_t n) {
        if ((size_t) (at - text) < n)
                return false;
        for (size_t i = 1; i <= n; i++)
                if (!isalnum((unsigned char) at[-(ptrdiff_t) i]))
                        return false;
        return true;
}

bool credential_is_in(const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(credential_forms); i++)
                for (const char *at = text; (at = strstr(at, credential_forms[i].prefix)); at++)
                        if (strspn(at + strlen(credential_forms[i].prefix), "0123456789abcdef") >= credential_forms[i].digits &&
                                        credential_is_behind(text, at, credential_forms[i].before))
                                return true;
        return false;
}
