/* ClientHellos of any guest: what is taken has a clean name, and does not change when it arrives in pieces. */
#include "fuzz.h"

#include <errno.h>

#include "gate/tls/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        TlsHello whole = { 0 }, part;
        int r = hello_parse(data, size, &whole);

        MUST(r == 1 || r == 0 || r == -EBADMSG);
        if (size >= HELLO_MAX)
                MUST(r != 0);
        for (const char *p = whole.name; *p; p++)
                MUST((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || strchr("._-", *p));
        MUST(strlen(whole.name) < EGRESS_DOMAIN_MAX);
        for (size_t n = size < 512 ? 0 : size - 512; n < size; n++) {
                int q = hello_parse(data, n, &part);

                if (q == 1) /* then the rest is not looked at */
                        MUST(r == 1 && strcmp(part.name, whole.name) == 0 && part.encrypted == whole.encrypted);
                if (q < 0)
                        MUST(r < 0);
        }
        return 0;
}
