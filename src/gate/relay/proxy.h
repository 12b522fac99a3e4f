/* proxy.h: the HTTP proxy through which the gate reaches package registries, on a machine that has one.
 *
 * Only names of the list "packages" go through the proxy. The proxy resolves them, so the gate sees no address and cannot tell a special one.
 * Therefore the operator's list decides, and no rule of a tenant. A policy that denies ranges of addresses does not use the proxy.
 *
 *      guest   pypi.org?            → 198.18.x.y, a stand-in: not an address of the world; pinned like any other
 *      guest   connect(198.18.x.y)  → TLS whose name is pinned to the stand-in, and is in "packages"
 *      gate    connect(the proxy)   → CONNECT pypi.org:443, then bytes; plain HTTP: GET http://deb.debian.org/…
 *
 * If only plain HTTP has a proxy (a cache for apt), names are resolved as usual and there are no stand-ins.
 * Must not know: DNS messages, HTTP messages, coved. */
#pragma once

#include "base/proxy.h"
#include "gate/gate.h"

typedef struct GateProxy GateProxy;

/* Reads {"http": URL, "https": URL, "except": "a,b", "packages": [rules]}; all but "packages" are optional. */
int gate_proxy_new(json_t *settings, GateProxy **ret, Error *reterr);
GateProxy *gate_proxy_free(GateProxy *p);

/* Whether the proxy resolves this name. If so, the guest gets the stand-in instead of an address. */
bool gate_proxy_has_name(const GateSandbox *s, const char *name);
void gate_proxy_stand_in(const char *name, IpAddress *ret);
bool gate_proxy_is_stand_in(const Gate *g, const IpAddress *address);

/* The proxy for a request; NULL: none. Valid until the next hello of coved. */
const ProxyServer *gate_proxy_for(const GateSandbox *s, const EgressQuestion *q);

/* Warns the operator that the proxy refused a connection, once a minute at most. */
void gate_proxy_failed(Gate *g, const char *place, const char *why);
