/* upstream.h: c-ares in the event loop: one question to the upstream name servers, one answer.
 *
 * Used by resolver.c only. c-ares handles sockets, retries, timeouts, truncation (retry by TCP), and parsing
 * of responses.
 * Must not know: caches, shared calls, policy. */
#pragma once

#include "gate/dns/resolver.h"

typedef struct Upstream Upstream;

/* Called exactly once, possibly from within upstream_ask(), but not after upstream_free(). The answer's TTL
 * is upstream's, not clamped. */
typedef void (*UpstreamDone)(const ResolverAnswer *a, void *userdata);

int upstream_new(sd_event *event, Upstream **ret);
Upstream *upstream_free(Upstream *u);
int upstream_set_servers(Upstream *u, const char *const *servers, size_t n, Error *reterr);
void upstream_ask(Upstream *u, const char *name, int family, UpstreamDone done, void *userdata);
