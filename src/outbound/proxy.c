/* proxy.c: chooses the proxy of a request. The only file that reads the proxy variables of the environment. */

#include <stdlib.h>
#include <string.h>

#include "base/proxy.h"
#include "outbound/internal.h"

static const char *proxy_first(const char *const *names) {
        for (; *names; names++) {
                const char *value = getenv(*names);

                if (value && *value)
                        return value;
        }
        return NULL;
}

const char *proxy_for(CURLU *url) {
        static const char *const plain[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL }; /* not HTTP_PROXY: in a CGI program it contains a header of the request */
        static const char *const tls[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL };
        static const char *const none[] = { "no_proxy", "NO_PROXY", NULL };
        const char *found = NULL;
        char *scheme = NULL, *host = NULL;

        if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK && curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
                char *bare = *host == '[' ? host + 1 : host;

                bare[strcspn(bare, "]")] = 0;
                /* For a proxy, these addresses would mean the proxy's own machine. */
                if (!proxy_list_has("localhost,127.0.0.0/8,::1", bare) && !proxy_list_has(proxy_first(none), bare))
                        found = proxy_first(strcmp(scheme, "https") == 0 ? tls : plain);
        }
        curl_free(scheme);
        curl_free(host);
        return found;
}
