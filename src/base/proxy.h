/* proxy.h: URLs of HTTP proxies, as written in variables, configuration files and cove.yaml.
 *
 * "http://USER:PASSWORD@HOST:PORT"; only HOST is mandatory. A URL may have a password: it must not be logged, and is wiped before it is freed.
 * proxy_shown() makes the form for people. Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROXY_URL_MAX   512
#define PROXY_HOST_MAX  254
#define PROXY_SHOWN_MAX (PROXY_HOST_MAX + 16)

typedef struct ProxyServer {
        char host[PROXY_HOST_MAX]; /* a name in lower case, or an address without brackets */
        uint16_t port;             /* 80 when the URL has none */
        char *authorization;       /* "Basic …"; NULL: the URL has no user */
} ProxyServer;

/* -EPROTONOSUPPORT: the scheme is not http. -EINVAL. The scheme is optional. */
int proxy_parse(const char *url, ProxyServer *ret);
void proxy_done(ProxyServer *p); /* wipes */

/* "http://HOST:PORT". A URL that proxy_parse() refuses is shown as it is, without user and password. */
void proxy_shown(const char *url, char ret[static PROXY_SHOWN_MAX]);

/* Wipes and frees a URL; returns NULL. */
char *proxy_url_free(char *url);

/* Whether a list in the form of no_proxy contains the host: names and all names below them, "*", addresses, ranges; separated by commas or blanks.
 * NULL is an empty list. */
bool proxy_list_has(const char *list, const char *host);
