/* Any Host header: a target that it gives is one that could be, and what is none is said to be none. */
#include "fuzz.h"

#include <errno.h>

#include "api/e2b/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_string(data, size);
        ApiTarget t = { 0 };
        int r = e2b_host_read(text, &t);
        char token_id[SANDBOX_ID_LENGTH + 1];

        MUST(r == 1 || r == 0 || r == -EINVAL || r == -ERANGE || r == -ENXIO);
        if (r == 1) {
                MUST(t.port > 0 && t.by_host && e2b_id_is_possible(t.id, strlen(t.id)));
                MUST(strchr(text, '.') && !e2b_host_is_shared(text));
        } else
                MUST(t.port == 0 && t.id[0] == '\0');
        (void) e2b_host_is_below(text, "sbx.test");
        if (e2b_token_is_of(text, token_id))
                MUST(strlen(token_id) == SANDBOX_ID_LENGTH && strncmp(token_id, text, SANDBOX_ID_LENGTH) == 0);
        return 0;
}
