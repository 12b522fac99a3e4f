/* host.h: what a host's name says: "<port>-<id>[-anything].<any domain>" is a port of a sandbox.
 *
 * Names that do not begin with a number and a dash are somebody else's: the daemon itself has one.
 * Must not know: which sandboxes there are, HTTP beyond the Host header. */
#pragma once

#include "api/e2b/e2b.h"

/* 1: a port of a sandbox, 0: another name. -ENXIO: it has no domain; -EINVAL: no id that could be; -ERANGE: no port that could be. */
int e2b_host_read(const char *host, ApiTarget *ret);
/* An address, "localhost", or "sandbox.<domain>": such a name cannot say which sandbox is meant. */
bool e2b_host_is_shared(const char *host);
/* host: with or without a port behind it. */
bool e2b_host_is_below(const char *host, const char *domain);

bool e2b_id_is_possible(const char *text, size_t n); /* as E2B's proxy has it: not empty, [a-z0-9] */
