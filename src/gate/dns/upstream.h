/* upstream.h: c-ares in the loop: one question to the name servers of the world, one answer.
 *
 * resolver.c's own; nobody else asks. Sockets, tries, time-outs, truncation (then by TCP), and reading what comes back are c-ares'.
 * Must not know: caches, calls that are shared, policy. */
#pragma once

#include "gate/dns/resolver.h"

typedef struct Upstream Upstream;

/* Exactly once, maybe from within upstream_ask(); not at all after upstream_free(). The answer's TTL is as upstream said it. */
typedef void (*UpstreamDone)(const ResolverAnswer *a, void *userdata);

int upstream_new(sd_event *event, Upstream **ret);
Upstream *upstream_free(Upstream *u);
int upstream_set_servers(Upstream *u, const char *const *servers, size_t n, Error *reterr);
void upstream_ask(Upstream *u, const char *name, int family, UpstreamDone done, void *userdata);
