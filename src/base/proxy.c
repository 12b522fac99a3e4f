#include "base/proxy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ip.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

#define PORT_DEFAULT 80
#define SCHEME       "http://"

/* %XX in a user or a password. */
static int proxy_unescape(const char *text, size_t size, char *ret) {
        size_t n = 0;

        for (size_t i = 0; i < size; i++) {
                uint8_t byte = (uint8_t) text[i];

                if (byte == '%') {
                        char digits[3] = "";

                        if (i + 2 >= size)
                                return -EINVAL;
                        memcpy(digits, text + i + 1, 2);
                        if (hex_decode(digits, &byte, 1) < 0)
                                return -EINVAL;
                        i += 2;
                }
                if (byte < ' ' || byte == 0x7f)
                        return -EINVAL;
                ret[n++] = (char) byte;
        }
        return (int) n;
}

static int proxy_read_user(const char *text, size_t size, ProxyServer *p) {
        static const char prefix[] = "Basic ";
        char plain[PROXY_URL_MAX];
        int n = proxy_unescape(text, size, plain);
        size_t length;

        if (n < 0)
                return n;
        if (!memchr(plain, ':', (size_t) n))
                plain[n++] = ':';
        length = BASE64_SIZE((size_t) n);
        p->authorization = malloc(sizeof(prefix) + length);
        if (p->authorization) {
                memcpy(p->authorization, prefix, sizeof(prefix) - 1);
                base64_encode(plain, (size_t) n, p->authorization + sizeof(prefix) - 1);
                p->authorization[sizeof(prefix) - 1 + length] = '\0';
        }
        explicit_bzero(plain, sizeof(plain));
        return p->authorization ? 0 : -ENOMEM;
}

static bool is_host(const char *host) {
        IpAddress address;

        if (ip_parse(host, &address) >= 0)
                return true;
        return *host && !host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.")];
}

/* HOST, HOST:PORT, [V6], [V6]:PORT */
static int proxy_read_place(const char *text, size_t size, ProxyServer *p) {
        const char *end = text + size, *colon, *host_end;
        char number[8] = "";
        uint64_t port = PORT_DEFAULT;

        if (size > 0 && *text == '[') {
                host_end = memchr(text, ']', size);
                if (!host_end)
                        return -EINVAL;
                text++;
                colon = host_end + 1 < end ? host_end + 1 : NULL;
        } else {
                colon = memchr(text, ':', size);
                host_end = colon ? colon : end;
        }
        if ((size_t) (host_end - text) >= sizeof(p->host))
                return -EINVAL;
        for (const char *c = text; c < host_end; c++)
                p->host[c - text] = (char) tolower((unsigned char) *c);
        p->host[host_end - text] = '\0';
        if (colon) {
                if (*colon != ':' || (size_t) (end - colon) > sizeof(number))
                        return -EINVAL;
                memcpy(number, colon + 1, (size_t) (end - colon - 1));
                if (parse_uint64(number, 1, UINT16_MAX, &port) < 0)
                        return -EINVAL;
        }
        p->port = (uint16_t) port;
        return is_host(p->host) ? 0 : -EINVAL;
}

int proxy_parse(const char *url, ProxyServer *ret) {
        const char *scheme = strstr(url, "://"), *at;
        ProxyServer p = { 0 };
        size_t size;
        int r;

        if (strlen(url) >= PROXY_URL_MAX)
                return -EINVAL;
        if (scheme && strncasecmp(url, SCHEME, strlen(SCHEME)) != 0)
                return -EPROTONOSUPPORT;
        url = scheme ? scheme + 3 : url;
        size = strcspn(url, "/?#");
        if (url[size] && strcmp(url + size, "/") != 0)
                return -EINVAL;
        at = memrchr(url, '@', size);
        r = proxy_read_place(at ? at + 1 : url, at ? size - (size_t) (at + 1 - url) : size, &p);
        if (r >= 0 && at)
                r = proxy_read_user(url, (size_t) (at - url), &p);
        if (r < 0) {
                proxy_done(&p);
                return r;
        }
        *ret = p;
        return 0;
}

void proxy_done(ProxyServer *p) {
        p->authorization = proxy_url_free(p->authorization);
}

void proxy_shown(const char *url, char ret[static PROXY_SHOWN_MAX]) {
        ProxyServer p = { 0 };

        if (proxy_parse(url, &p) < 0) {
                const char *scheme = strstr(url, "://"), *at = strrchr(url, '@');
                const char *place = at ? at + 1 : scheme ? scheme + 3 : url;

                (void) snprintf(ret, PROXY_SHOWN_MAX, "%.*s%s", scheme ? (int) MIN_OF(scheme + 3 - url, (ptrdiff_t) 16) : 0, url, place);
        } else
                (void) snprintf(ret, PROXY_SHOWN_MAX, strchr(p.host, ':') ? "http://[%s]:%u" : "http://%s:%u", p.host, (unsigned) p.port);
        proxy_done(&p);
}

char *proxy_url_free(char *url) {
        if (url)
                explicit_bzero(url, strlen(url));
        free(url);
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

/* An item is a name, or a domain above it; an address, or a range that contains it. */
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

bool proxy_list_has(const char *list, const char *host) {
        while (list && *list) {
                size_t n = strcspn(list, ", \t");

                if (n > 0 && proxy_item_has(list, n, host))
                        return true;
                list += n + strspn(list + n, ", \t");
        }
        return false;
}
