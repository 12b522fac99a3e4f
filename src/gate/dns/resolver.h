/* resolver.h: names to addresses, asked of the upstream name servers; the one door to c-ares.
 *
 * One for all sandboxes: with a cache, identical questions under way are joined, and every call ends within RESOLVER_DEADLINE_USEC, whatever
 * upstream does. Failures of upstream are not kept, that a name does not exist is for a few seconds.
 * Search lists, /etc/hosts and aliases of the host play no part: a name means what the world says.
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
#define RESOLVER_DEADLINE_USEC (4800 * USEC_PER_MSEC) /* before the guest's own resolver gives up, usually after 5 s */

typedef struct Resolver Resolver;
typedef struct ResolverCall ResolverCall;

typedef struct ResolverAnswer {
        int error; /* 0; -ENOENT: no such name; -ENODATA; -ETIMEDOUT, -EHOSTUNREACH: upstream is down; -EBADMSG; -EBUSY: too many at once */
        IpAddress addresses[RESOLVER_ADDRESSES_MAX];
        size_t n_addresses;
        uint32_t ttl; /* seconds that are left, at least RESOLVER_TTL_MIN */
} ResolverAnswer;

/* Asks nobody before resolver_set_servers(). */
int resolver_new(sd_event *event, Resolver **ret, Error *reterr);
Resolver *resolver_free(Resolver *r); /* calls that are open are dropped without a word */

/* "addr", "addr:port", "[addr]:port"; none: those of the host's resolv.conf, as it is now. What is under way is asked anew, and what is known is
 * forgotten. After a failure the old ones stay. */
int resolver_set_servers(Resolver *r, const char *const *servers, size_t n, Error *reterr);

/* done: once, not from within. family: AF_INET or AF_INET6. NULL: out of memory. */
ResolverCall *resolver_ask(Resolver *r, const char *name, int family, void (*done)(const ResolverAnswer *a, void *userdata), void *userdata);
ResolverCall *resolver_cancel(ResolverCall *c); /* NULL is fine */

/* Whether a call would be answered without asking upstream. */
bool resolver_knows(Resolver *r, const char *name, int family);
