/* sign.c: signatures that grant access without a key. They are derived from the daemon's key, so none is
 * stored. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/template/templates.h"
#include "api/preview/preview.h"
#include "core/secret.h"

void e2b_sign(const Api *api, const char *kind, const char *text, char ret[static E2B_SIGNATURE_SIZE]) {
        const uint8_t *key = previews_key(previews_of(api));
        uint8_t sum[SECRET_SHA256_SIZE], mac[SECRET_SHA256_SIZE];
        char both[64 + 2 * sizeof(sum) + 2], digits[2 * sizeof(sum) + 1];
        int n;

        secret_sha256(text, strlen(text), sum);
        secret_hex(sum, sizeof(sum), digits);
        n = snprintf(both, sizeof(both), "%.63s %s", kind, digits);
        secret_hmac_sha256(key, SECRET_SHA256_SIZE, both, (size_t) n, mac);
        secret_hex(mac, (E2B_SIGNATURE_SIZE - 1) / 2, ret);
}
