/* link.c: URLs of previews, and their signatures. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/preview/preview.h"
#include "base/parse.h"
#include "config/config.h"
#include "core/secret.h"

#define DIGEST_BYTES 20 /* of the signature in a link */

static void digest(const uint8_t *key, const char *id, uint16_t port, uint64_t expires, char ret[static 2 * DIGEST_BYTES + 1]) {
        uint8_t mac[SECRET_SHA256_SIZE];
        char text[128];
        int n = snprintf(text, sizeof(text), "preview %s %u %llu", id, port, (unsigned long long) expires);

        secret_hmac_sha256(key, SECRET_SHA256_SIZE, text, (size_t) n, mac);
        secret_hex(mac, DIGEST_BYTES, ret);
}

void preview_sign(const uint8_t *key, const char *id, uint16_t port, uint64_t expires, char ret[static PREVIEW_TOKEN_MAX]) {
        char signature[2 * DIGEST_BYTES + 1];

        digest(key, id, port, expires, signature);
        (void) snprintf(ret, PREVIEW_TOKEN_MAX, "%llu.%s", (unsigned long long) expires, signature);
}

bool preview_verify(const uint8_t *key, const char *id, uint16_t port, uint64_t now, const char *token) {
        char number[24], signature[2 * DIGEST_BYTES + 1];
        size_t n = strcspn(token, ".");
        uint64_t expires;

        if (n >= sizeof(number) || token[n] != '.' || strlen(token + n + 1) != 2 * DIGEST_BYTES)
                return false;
        memcpy(number, token, n);
        number[n] = '\0';
        if (parse_uint64(number, 0, UINT64_MAX, &expires) < 0)
                return false;
        digest(key, id, port, expires, signature);
        return secret_equal(signature, token + n + 1, 2 * DIGEST_BYTES) && (expires == 0 || now < expires);
}

/* The port at the end of "host:port" or "[v6]:port", with its colon; "" when there is none. */
static const char *preview_link_port_of(const char *address) {
        const char *bracket = strrchr(address, ']'), *colon = strrchr(address, ':');

        return colon && (!bracket || colon > bracket) ? colon : "";
}

/* A caller on the unix socket may send any Host, even one that leads nowhere. */
static const char *server_of(const ApiRequest *q) {
        const char *host = http_header(q->http, "Host"), *own = api_address(q->api);
        uid_t uid;

        if (own && (!host || !*host || http_peer_is_unix(q->http, &uid)))
                return own;
        return host && *host ? host : "localhost";
}

void preview_url(const ApiRequest *q, const char *id, uint16_t port, const char *token, char ret[static PREVIEW_URL_MAX]) {
        (void) snprintf(ret, PREVIEW_URL_MAX, "%s://%u-%s.%s%s/%s%s", http_is_secure(q->http) ? "https" : "http", port, id, q->manager->settings->previews.domain, preview_link_port_of(server_of(q)),
                        token ? "?" PREVIEW_QUERY "=" : "", token ? token : "");
}

void preview_path_url(const ApiRequest *q, const char *id, uint16_t port, const char *token, char ret[static PREVIEW_URL_MAX]) {
        (void) snprintf(ret, PREVIEW_URL_MAX, "%s://%.200s/preview/%s/%u%s%s/", http_is_secure(q->http) ? "https" : "http", server_of(q), id, port, token ? "~" : "", token ? token : "");
}
