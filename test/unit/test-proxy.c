/* URLs of proxies, and the names that are reached without one. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/proxy.h"

static const struct {
        const char *url;
        int r;
        const char *host;
        unsigned port;
        const char *authorization, *shown;
} urls[] = {
        { "http://proxy.example.org:3128",                  0, "proxy.example.org", 3128,  NULL,                     "http://proxy.example.org:3128" },
        { "http://Proxy.Example.org:3128/",                 0, "proxy.example.org", 3128,  NULL,                     "http://proxy.example.org:3128" },
        { "proxy:8080",                                     0, "proxy",             8080,  NULL,                     "http://proxy:8080" },
        { "HTTP://127.0.0.1",                               0, "127.0.0.1",         80,    NULL,                     "http://127.0.0.1:80" },
        { "http://[2001:db8::1]:65535",                     0, "2001:db8::1",       65535, NULL,                     "http://[2001:db8::1]:65535" },
        { "http://[2001:db8::1]",                           0, "2001:db8::1",       80,    NULL,                     "http://[2001:db8::1]:80" },
        { "http://me:secret@proxy:1",                       0, "proxy",             1,     "Basic bWU6c2VjcmV0",     "http://proxy:1" },
        { "http://me@proxy:1",                              0, "proxy",             1,     "Basic bWU6",             "http://proxy:1" },
        { "http://m%40e:s%3Ae%2fc@proxy:1",                 0, "proxy",             1,     "Basic bUBlOnM6ZS9j",     "http://proxy:1" },
        { "http://a@b:c@d@proxy:1",                         0, "proxy",             1,     "Basic YUBiOmNAZA==",     "http://proxy:1" },
        { "https://me:secret@proxy:1",                      -EPROTONOSUPPORT, NULL, 0, NULL, "https://proxy:1" },
        { "socks5h://proxy:1080",                           -EPROTONOSUPPORT, NULL, 0, NULL, "socks5h://proxy:1080" },
        { "http://me:se\nret@proxy:1",                      -EINVAL, NULL, 0, NULL, "http://proxy:1" },
        { "http://me:se%0dret@proxy:1",                     -EINVAL, NULL, 0, NULL, "http://proxy:1" },
        { "http://me:se%zzret@proxy:1",                     -EINVAL, NULL, 0, NULL, "http://proxy:1" },
        { "http://me:se%4@proxy:1",                         -EINVAL, NULL, 0, NULL, "http://proxy:1" },
        { "http://proxy:0",                                 -EINVAL, NULL, 0, NULL, "http://proxy:0" },
        { "http://proxy:65536",                             -EINVAL, NULL, 0, NULL, "http://proxy:65536" },
        { "http://proxy:",                                  -EINVAL, NULL, 0, NULL, "http://proxy:" },
        { "http://proxy:1234567890",                        -EINVAL, NULL, 0, NULL, "http://proxy:1234567890" },
        { "http://proxy:1/path",                            -EINVAL, NULL, 0, NULL, "http://proxy:1/path" },
        { "http://pro xy:1",                                -EINVAL, NULL, 0, NULL, "http://pro xy:1" },
        { "http://[2001:db8::1:80",                         -EINVAL, NULL, 0, NULL, "http://[2001:db8::1:80" },
        { "http://[2001:db8::1]80",                         -EINVAL, NULL, 0, NULL, "http://[2001:db8::1]80" },
        { "http://",                                        -EINVAL, NULL, 0, NULL, "http://" },
        { "",                                               -EINVAL, NULL, 0, NULL, "" },
};

TEST(urls) {
        for (size_t i = 0; i < ELEMENTSOF(urls); i++) {
                ProxyServer p = { .port = 7 };
                char shown[PROXY_SHOWN_MAX];

                check_result(urls[i].url, proxy_parse(urls[i].url, &p), urls[i].r);
                check_uint(urls[i].url, p.port, urls[i].r < 0 ? 7 : urls[i].port);
                if (urls[i].r >= 0)
                        check_string(urls[i].url, p.host, urls[i].host);
                check_string(urls[i].url, p.authorization, urls[i].authorization);
                proxy_shown(urls[i].url, shown);
                check_string(urls[i].url, shown, urls[i].shown);
                proxy_done(&p);
        }
}

/* Whatever its length, a URL fits or is refused. */
TEST(lengths) {
        char url[2 * PROXY_URL_MAX] = "http://", shown[PROXY_SHOWN_MAX];

        for (size_t n = 7; n + 1 < sizeof(url); n++) {
                ProxyServer p = { 0 };

                url[n] = n % 2 ? 'a' : '@';
                if (proxy_parse(url, &p) >= 0)
                        check_true("short", n < PROXY_URL_MAX);
                proxy_done(&p);
                proxy_shown(url, shown);
        }
}

static const struct {
        const char *list, *host;
        bool has;
} lists[] = {
        { NULL,                          "example.org",     false },
        { "",                            "example.org",     false },
        { "example.org",                 "example.org",     true  },
        { "example.org",                 "a.example.org",   true  },
        { ".example.org",                "a.example.org",   true  },
        { "example.org",                 "anexample.org",   false },
        { "other,\t EXAMPLE.org. ,more", "a.Example.ORG",   true  },
        { "*",                           "example.org",     true  },
        { "10.0.0.0/8",                  "10.1.2.3",        true  },
        { "10.0.0.0/8",                  "11.1.2.3",        false },
        { "10.0.0.0/8",                  "example.org",     false },
        { "::1",                         "::1",             true  },
        { ",,,",                         "example.org",     false },
};

TEST(names_without) {
        for (size_t i = 0; i < ELEMENTSOF(lists); i++)
                check_uint(lists[i].host, proxy_list_has(lists[i].list, lists[i].host), lists[i].has);
}
