/* name-cache.h: what upstream said about names, as long as it holds.
 *
 * By name and family. Bounded: when it is full, what was not asked for the longest goes. Time is told by the caller.
 * Must not know: who asks, c-ares, sandboxes. */
#pragma once

#include "gate/dns/resolver.h"

typedef struct NameCache NameCache;

int name_cache_new(size_t max, NameCache **ret);
NameCache *name_cache_free(NameCache *c);
void name_cache_clear(NameCache *c);
size_t name_cache_count(const NameCache *c);

/* The TTL is brought between RESOLVER_TTL_MIN and _MAX; -ENOENT and -ENODATA hold for RESOLVER_TTL_NEGATIVE; other errors are not kept. */
int name_cache_put(NameCache *c, const char *name, int family, const ResolverAnswer *a, usec_t now);
/* True: there it is, with the TTL that is left. */
bool name_cache_get(NameCache *c, const char *name, int family, usec_t now, ResolverAnswer *ret);
