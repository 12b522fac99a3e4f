/* resolver.h: resolves names to addresses at the upstream name servers; hides c-ares.
 *
 * One resolver serves all sandboxes, with a cache. Identical lookups in progress are joined, and every call
 * ends within RESOLVER_DEADLINE_USEC, whatever upstream does. Upstream failures are not cached; a missing
 * name or missing data is, for a few seconds.
 * Search lists, /etc/hosts and aliases of the host are ignored: a name means what the upstream name servers
 * say.
 * Must not know: sandboxes, policy, DNS messages of guests. */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/error.h"
#include "policy/egress.h"

#define RESOLVER_ADDRESSES_MAX 16
#define RESOLVER_TTL_MIN       1
#define RESOLVER_TTL_MAX       3600
#define RESOLVER_TTL_NEGATIVE  5
#define RESOLVER_DEADLINE_USEC (4800 * USEC_PER_MSEC) /* before the guest's own resolver times out, usually after 5 s */

typedef struct Resolver Resolver;
typedef struct ResolverCall ResolverCall;

typedef struct ResolverAnswer {
        int error; /* 0; -ENOENT: no such name; -ENODATA; -ETIMEDOUT, -EHOSTUNREACH: upstream is down; -EBADMSG; -EBUSY: too many lookups */
        IpAddress addresses[RESOLVER_ADDRESSES_MAX];
        size_t n_addresses;
        uint32_t ttl; /* remaining seconds, at least RESOLVER_TTL_MIN */
} ResolverAnswer;

/* Has no servers before resolver_set_servers(). */
int resolver_new(sd_event *event, Resolver **ret, Error *reterr);
Resolver *resolver_free(Resolver *r); /* pending calls are dropped without a callback */

/* servers: "addr", "addr:port", "[addr]:port". None: the current servers of the host's resolv.conf. Lookups
 * in progress are asked again, and the cache is cleared. On failure the old servers stay. */
int resolver_set_servers(Resolver *r, const char *const *servers, size_t n, Error *reterr);

/* done: called once, not from within resolver_ask(). family: AF_INET or AF_INET6. NULL: out of memory. */
ResolverCall *resolver_ask(Resolver *r, const char *name, int family, void (*done)(const ResolverAnswer *a, void *userdata), void *userdata);
ResolverCall *resolver_cancel(ResolverCall *c); /* NULL is allowed */

/* Whether the cache can answer a call. */
bool resolver_knows(Resolver *r, const char *name, int family);
