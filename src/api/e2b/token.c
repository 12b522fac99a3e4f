/* token.c: tokens for a sandbox's services. They are derived from the daemon's key, so none is stored.
 *
 * The key is the one that signs preview links. The signed text begins with a different word for each kind of
 * token, so that no token can be used as another kind. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/e2b.h"
#include "api/preview/preview.h"
#include "core/secret.h"

#define DIGEST_BYTES 24

static void token_derive(const Api *api, const char *kind, const char *id, char ret[static E2B_TOKEN_MAX]) {
        const uint8_t *key = previews_key(previews_of(api));
        char text[96], digits[2 * DIGEST_BYTES + 1];
        uint8_t mac[SECRET_SHA256_SIZE];
        int n = snprintf(text, sizeof(text), "%s %.*s", kind, API_TARGET_ID_MAX, id);

        secret_hmac_sha256(key, SECRET_SHA256_SIZE, text, (size_t) n, mac);
        secret_hex(mac, DIGEST_BYTES, digits);
        (void) snprintf(ret, E2B_TOKEN_MAX, "%.*s_%s", SANDBOX_ID_LENGTH, id, digits);
}

void e2b_access_token(const Api *api, const char *id, char ret[static E2B_TOKEN_MAX]) {
        token_derive(api, "e2b-access", id, ret);
}

void e2b_traffic_token(const Api *api, const char *id, char ret[static E2B_TOKEN_MAX]) {
        token_derive(api, "e2b-traffic", id, ret);
}

bool e2b_token_matches(const char *given, const char *wanted) {
        size_t n = strlen(wanted);

        return given && strlen(given) == n && secret_equal(given, wanted, n);
}

bool e2b_token_is_of(const char *token, char ret_id[static SANDBOX_ID_LENGTH + 1]) {
        size_t n = token ? strcspn(token, "_") : 0;

        if (n != SANDBOX_ID_LENGTH || token[n] != '_' || strlen(token + n + 1) != 2 * DIGEST_BYTES)
                return false;
        memcpy(ret_id, token, n);
        ret_id[n] = '\0';
        return true;
}

int e2b_file_signature(const char *path, const char *operation, const char *user, const char *token, const char *expires, char **ret) {
        _cleanup_free_ char *text = NULL, *made = NULL;
        uint8_t digest[SECRET_SHA256_SIZE];
        char base64[SECRET_BASE64_SIZE(sizeof(digest))];

        if (asprintf(&text, "%s:%s:%s:%s%s%s", path ? path : "", operation, user ? user : "", token, expires ? ":" : "", expires ? expires : "") < 0) {
                text = NULL;
                return -ENOMEM;
        }
        secret_sha256(text, strlen(text), digest);
        secret_base64(digest, sizeof(digest), /* url= */ false, base64, sizeof(base64));
        if (asprintf(&made, "v1_%s", base64) < 0) {
                made = NULL;
                return -ENOMEM;
        }
        *ret = TAKE_PTR(made);
        return 0;
}
