/* registries.h: where this machine gets its packages from, as its own configuration says: apt's sources, pip.conf, npmrc.
 *
 * Of files that everybody may read, and of URLs no more than "https://HOST" or "http://HOST:PORT": passwords and paths stay where they are.
 * What cannot be read or understood is left out. Knows libc only. */
#pragma once

#include "base/strv.h"

#define REGISTRIES_MAX 64

typedef struct Registries {
        Strv hosts;   /* each once */
        Strv proxies; /* through which the machine's own clients go: apt's, pip's, npm's, and those of the environment */
} Registries;

#define REGISTRIES_INIT { .hosts = STRV_INIT(REGISTRIES_MAX), .proxies = STRV_INIT(REGISTRIES_MAX) }

/* root: the machine's root directory. environment: NULL-terminated, or NULL for none. -ENOMEM. */
int registries_read(int root, char *const *environment, Registries *ret);
void registries_done(Registries *r);
