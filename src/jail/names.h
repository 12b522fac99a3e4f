/* names.h: how a sandbox finds names: /etc/hosts, /etc/hostname, /etc/nsswitch.conf, /etc/resolv.conf.
 *
 * On the host's template all of them are ours. A template of somebody else's keeps its own, but for the name server, which is ours
 * where there is one to ask.
 * Runs inside, as guest root, after the pivot.
 * Must not know: who answers. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

#define NAMES_NO_NETWORK "# no network\n"
void names_write_hosts(char *ret, size_t size, const char *hostname);

/* host_root_fd: where the host's own resolv.conf is, for who has the host's network. */
int names_make(const JailSpec *spec, int host_root_fd, Error *reterr);

/* In a template, once the host is gone. */
int names_adapt(const JailSpec *spec, Error *reterr);
