/* names.h: how a sandbox finds names: /etc/hosts, /etc/hostname, /etc/nsswitch.conf, /etc/resolv.conf.
 *
 * On the host's template all of them are ours. A template of somebody else's keeps its own, but for the name server, which is ours
 * where there is one to ask.
 * Runs inside, as guest root; after the pivot, unless it says otherwise.
 * Must not know: who answers. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

#define NAMES_NO_NETWORK "# no network\n"
void names_write_hosts(char *ret, size_t size, const char *hostname);

/* hosts and hostname of a sandbox whose /etc is an overlay of one that all share: into its upper layer, before there is an overlay. Through the overlay each of
 * them would cost a whiteout and a rename more. Runs before the pivot; what the guest of a kept disk has changed stays. */
int names_put_own(const JailSpec *spec, const char *upper, Error *reterr);

/* host_root_fd: where the host's own resolv.conf is, for who has the host's network. */
int names_make(const JailSpec *spec, int host_root_fd, Error *reterr);

/* In a template, once the host is gone. */
int names_adapt(const JailSpec *spec, Error *reterr);
