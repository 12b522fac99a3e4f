/* host.h: parses host names: "<port>-<id>[-anything].<any domain>" is a port of a sandbox.
 *
 * Names that do not begin with a number and a dash are not for a sandbox; the daemon has such a name.
 * Must not know: which sandboxes exist, HTTP beyond the Host header. */
#pragma once

#include "api/e2b/e2b.h"

/* 1: a port of a sandbox, 0: another name. -ENXIO: no domain; -EINVAL: invalid id; -ERANGE: invalid port. */
int e2b_host_read(const char *host, ApiTarget *ret);
/* Whether the name is an address, "localhost", or "sandbox.<domain>", which cannot identify a sandbox. */
bool e2b_host_is_shared(const char *host);
/* host: with or without a port. */
bool e2b_host_is_below(const char *host, const char *domain);

bool e2b_id_is_possible(const char *text, size_t n); /* by the rule of E2B's proxy: not empty, [a-z0-9] */
