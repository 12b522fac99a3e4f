#include <errno.h>
#include <nettle/sha1.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "api/ws.h"

#define KEY_LENGTH 24 /* sixteen bytes in base64 */

_Static_assert(BASE64_SIZE(SHA1_DIGEST_SIZE) == WS_ACCEPT_SIZE, "an accept key is a SHA-1 in base64");

void ws_accept_key(const char *key, char ret[static WS_ACCEPT_SIZE + 1]) {
        static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, section 1.3 */
        uint8_t digest[SHA1_DIGEST_SIZE];
        struct sha1_ctx context;

        sha1_init(&context);
        sha1_update(&context, strlen(key), (const uint8_t *) key);
        sha1_update(&context, sizeof(guid) - 1, (const uint8_t *) guid);
        sha1_digest(&context, sizeof(digest), digest);
        base64_encode(digest, sizeof(digest), ret);
        ret[WS_ACCEPT_SIZE] = '\0';
}

/* Whether a list such as "keep-alive, Upgrade" has the word. */
static bool ws_handshake_has_word(const char *list, const char *word) {
        size_t length = strlen(word);

        while (list && *list) {
                size_t n;

                list += strspn(list, ", \t");
                n = strcspn(list, ", \t");
                if (n == length && strncasecmp(list, word, n) == 0)
                        return true;
                list += n;
        }
        return false;
}

static bool is_key(const char *key) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

        return key && strlen(key) == KEY_LENGTH && strspn(key, letters) == KEY_LENGTH - 2 &&
               strcmp(key + KEY_LENGTH - 2, "==") == 0;
}

int ws_check(const HttpRequest *r, Error *reterr) {
        const char *version = http_header(r, "Sec-WebSocket-Version");

        if (!ws_handshake_has_word(http_header(r, "Upgrade"), "websocket") || !ws_handshake_has_word(http_header(r, "Connection"), "upgrade"))
                return error_set(reterr, -EPROTONOSUPPORT, "This is a WebSocket: ask with Upgrade: websocket");
        if (!version || strcmp(version, "13") != 0)
                return error_set(reterr, -EPROTONOSUPPORT, "Sec-WebSocket-Version must be 13, not '%.32s'", version ?: "");
        if (!is_key(http_header(r, "Sec-WebSocket-Key")))
                return error_set(reterr, -EINVAL, "Sec-WebSocket-Key must be 16 bytes in base64");
        return 0;
}

int ws_accept(HttpRequest *r, HttpUpgrade upgraded, void *userdata) {
        char accept[WS_ACCEPT_SIZE + 1];

        ws_accept_key(http_header(r, "Sec-WebSocket-Key"), accept);
        if (http_add_header(r, "Sec-WebSocket-Accept", accept) < 0)
                return http_answer(r, 500, "text/plain", "out of memory\n", strlen("out of memory\n"));
        return http_answer_upgrade(r, "websocket", upgraded, userdata);
}
