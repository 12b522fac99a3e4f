/* proxy.c: chooses the proxy of a request. The only file that reads the proxy variables of the environment. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "outbound/internal.h"

static const char *proxy_first(const char *const *names) {
        for (; *names; names++) {
                const char *value = getenv(*names);

                if (value && *value)
                        return value;
        }
        return NULL;
}

static size_t proxy_trim(const char **text, size_t size) {
        while (size > 0 && **text == '.') {
                (*text)++;
                size--;
        }
        while (size > 0 && (*text)[size - 1] == '.')
                size--;
        return size;
}

/* A name, or one above it; an address, or a range with it. */
static bool proxy_item_has(const char *item, size_t size, const char *host) {
        char text[IP_RANGE_TEXT_MAX];
        size_t n = strlen(host);
        IpAddress a;
        IpRange r;

        if (size == 1 && *item == '*')
                return true;
        if (ip_parse(host, &a) >= 0) {
                if (size >= sizeof(text))
                        return false;
                memcpy(text, item, size);
                text[size] = 0;
                return ip_range_parse(text, &r) >= 0 && ip_range_has(&r, &a);
        }
        size = proxy_trim(&item, size);
        n = proxy_trim(&host, n);
        return size > 0 && size <= n && strncasecmp(host + n - size, item, size) == 0 && (size == n || host[n - size - 1] == '.');
}

static bool proxy_is_in(const char *list, const char *host) {
        while (list && *list) {
                size_t n = strcspn(list, ", \t");

                if (n > 0 && proxy_item_has(list, n, host))
                        return true;
                list += n + strspn(list + n, ", \t");
        }
        return false;
}

const char *proxy_for(CURLU *url) {
        static const char *const plain[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL }; /* HTTP_PROXY is what a CGI gets of a header */
        static const char *const tls[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL };
        static const char *const none[] = { "no_proxy", "NO_PROXY", NULL };
        const char *found = NULL;
        char *scheme = NULL, *host = NULL;

        if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK && curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
                char *bare = *host == '[' ? host + 1 : host;

                bare[strcspn(bare, "]")] = 0;
                /* A proxy's own machine is not meant by these. */
                if (!proxy_is_in("localhost,127.0.0.0/8,::1", bare) && !proxy_is_in(proxy_first(none), bare))
                        found = proxy_first(strcmp(scheme, "https") == 0 ? tls : plain);
        }
        curl_free(scheme);
        curl_free(host);
        return found;
}
