/* Paths inside a sandbox: what comes out is absolute, has no "." or "..", and stays as it is the second time. */
#include "fuzz.h"

#include "base/macro.h"
#include "base/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size), *normal = NULL, *again = NULL;

        if (path_normalize(text, &normal) < 0) {
                MUST(!normal);
                return 0;
        }
        MUST(normal[0] == '/');
        MUST(strlen(normal) <= strlen(text));
        MUST(!strstr(normal, "//") && !strstr(normal, "/./") && !strstr(normal, "/../"));
        MUST(strcmp(normal, "/") == 0 || normal[strlen(normal) - 1] != '/');
        MUST(path_normalize(normal, &again) == 0 && strcmp(normal, again) == 0);
        MUST(path_is_below(normal, normal));
        return 0;
}
