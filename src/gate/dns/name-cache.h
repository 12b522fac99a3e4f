/* name-cache.h: cache of upstream's answers, by name and family, until their TTL ends.
 *
 * Bounded: when it is full, the least recently used entry is removed. The caller passes the time.
 * Must not know: who asks, c-ares, sandboxes. */
#pragma once

#include "gate/dns/resolver.h"

typedef struct NameCache NameCache;

int name_cache_new(size_t max, NameCache **ret);
NameCache *name_cache_free(NameCache *c);
void name_cache_clear(NameCache *c);
size_t name_cache_count(const NameCache *c);

/* The TTL is clamped to RESOLVER_TTL_MIN and _MAX. -ENOENT and -ENODATA are kept for RESOLVER_TTL_NEGATIVE;
 * other errors are not kept. */
int name_cache_put(NameCache *c, const char *name, int family, const ResolverAnswer *a, usec_t now);
/* True: found, with the remaining TTL. */
bool name_cache_get(NameCache *c, const char *name, int family, usec_t now, ResolverAnswer *ret);
