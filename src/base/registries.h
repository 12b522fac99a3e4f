/* registries.h: the package registries and proxies that this machine is configured for: apt's sources, pip.conf, npmrc, the environment.
 *
 * Reads only files that are readable by everybody. A registry is reduced to "https://HOST" or "http://HOST:PORT", without password and path.
 * A proxy is a complete URL, which may have a password (proxy.h). Entries that cannot be read or understood are left out. Knows libc only. */
#pragma once

#include "base/strv.h"

#define REGISTRIES_MAX 64

/* For the proxy's shown form. */
#define REGISTRIES_PROXY_UNUSABLE "this machine's proxy '%s' is no HTTP proxy, and package registries are reached directly: give it as http://HOST:PORT"

typedef struct Registries {
        Strv hosts;        /* each once */
        char *http_proxy;  /* for http:// and https://, as this machine's own clients use them; NULL: none. The environment goes before files */
        char *https_proxy;
        char *no_proxy;    /* names that go without (proxy_list_has()); NULL: none */
} Registries;

#define REGISTRIES_INIT { .hosts = STRV_INIT(REGISTRIES_MAX) }

/* root: the machine's root directory. environment: NULL-terminated, or NULL for none. -ENOMEM. */
int registries_read(int root, char *const *environment, Registries *ret);
void registries_done(Registries *r);
