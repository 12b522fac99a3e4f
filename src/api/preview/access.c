/* access.c: access control of previews. */

#include <string.h>
#include <strings.h>

#include "api/preview/preview.h"

bool preview_cookie(const char *header, const char *name, char *ret, size_t size) {
        size_t length = strlen(name);

        while (header && *header) {
                size_t n;

                header += strspn(header, "; ");
                n = strcspn(header, ";");
                if (n > length && header[length] == '=' && strncmp(header, name, length) == 0 && n - length - 1 < size) {
                        memcpy(ret, header + length + 1, n - length - 1);
                        ret[n - length - 1] = '\0';
                        return true;
                }
                header += n;
        }
        return false;
}

static bool only_looks(const ApiRequest *q) {
        return strcmp(http_method(q->http), "GET") == 0 || strcmp(http_method(q->http), "HEAD") == 0;
}

/* Whether a page of another origin sends this request with the user's cookie. Browsers send Origin where
 * that could do harm: with requests that change something, and when a WebSocket is opened, which pages of
 * every origin may read. */
static bool is_from_elsewhere(const ApiRequest *q) {
        const char *origin = http_header(q->http, "Origin"), *host = http_header(q->http, "Host");
        const char *name = origin ? strstr(origin, "://") : NULL;

        if (!origin || (only_looks(q) && !http_header(q->http, "Upgrade")))
                return false;
        return !name || !host || strcasecmp(name + 3, host) != 0;
}

static bool has_link(const ApiRequest *q, const ApiTarget *t, PreviewAccess *ret) {
        const uint8_t *key = previews_key(previews_of(q->api));
        uint64_t now = clock_wall_usec() / USEC_PER_SEC;
        const char *query = http_query(q->http, PREVIEW_QUERY);
        char cookie[PREVIEW_TOKEN_MAX];

        if (t->token[0] && preview_verify(key, t->id, t->port, now, t->token))
                return true;
        if (query && preview_verify(key, t->id, t->port, now, query)) {
                ret->by_link = true;
                return true;
        }
        return !is_from_elsewhere(q) && preview_cookie(http_header(q->http, "Cookie"), PREVIEW_COOKIE, cookie, sizeof(cookie)) &&
               preview_verify(key, t->id, t->port, now, cookie);
}

static int preview_access_check_key(ApiRequest *q, const ApiTarget *t) {
        if (api_authenticate(q) <= 0) {
                (void) preview_refuse(q, 401, "unauthorized", "ask for a link: GET /api/sandbox/ID/url/PORT, or `cove url ID PORT`",
                                "%s", http_query(q->http, PREVIEW_QUERY) || t->token[0] ? "the link is not valid, or not any more"
                                                                          : "this preview is private");
                return 0;
        }
        if (!principal_may(&q->who, only_looks(q) && !http_header(q->http, "Upgrade") ? MAY_PORTS : MAY_SEND)) {
                q->over_scope = true;
                (void) preview_refuse(q, 403, "forbidden", NULL, "the key has scope 'read', this takes 'use'");
                return 0;
        }
        return 1;
}

int preview_may(ApiRequest *q, const ApiTarget *t, PreviewAccess *ret) {
        *ret = (PreviewAccess) { 0 };
        q->has_proved = has_link(q, t, ret);
        if (q->has_proved || previews_is_public(previews_of(q->api), t->id, t->port)) {
                api_become(q, PRINCIPAL_VISITOR, /* tenant= */ NULL, t->id);
                return 1;
        }
        return preview_access_check_key(q, t);
}
