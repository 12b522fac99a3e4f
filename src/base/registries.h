/* registries.h: the package registries that this machine's configuration names: apt's sources, pip.conf, npmrc.
 *
 * Reads only files that every user may read, and keeps only "https://HOST" or "http://HOST:PORT" of a URL, never
 * passwords or paths. Skips what it cannot read or parse. Knows libc only. */
#pragma once

#include "base/strv.h"

#define REGISTRIES_MAX 64

typedef struct Registries {
        Strv hosts;   /* each once */
        Strv proxies; /* of apt, pip and npm, and from the environment */
} Registries;

#define REGISTRIES_INIT { .hosts = STRV_INIT(REGISTRIES_MAX), .proxies = STRV_INIT(REGISTRIES_MAX) }

/* root: the machine's root directory. environment: NULL-terminated, or NULL for none. -ENOMEM. */
int registries_read(int root, char *const *environment, Registries *ret);
void registries_done(Registries *r);
