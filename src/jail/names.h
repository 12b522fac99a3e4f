/* names.h: the files for name lookup: /etc/hosts, /etc/hostname, /etc/nsswitch.conf, /etc/resolv.conf.
 *
 * On the host's template all of them are ours. Any other template keeps its own, except that resolv.conf names our name
 * server if the sandbox has one.
 * Runs inside, as guest root, after the pivot unless noted otherwise.
 * Must not know: the name server. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

#define NAMES_NO_NETWORK "# no network\n"
void names_write_hosts(char *ret, size_t size, const char *hostname);

/* Writes hosts and hostname of a sandbox with a shared /etc into the upper layer, before the overlay exists: through
 * the overlay each would cost an extra whiteout and rename. Runs before the pivot. Changes by the guest of a kept
 * disk stay. */
int names_put_own(const JailSpec *spec, const char *upper, Error *reterr);

/* On the host's template. host_root_fd: a sandbox with the host's network gets the resolv.conf from there. */
int names_make(const JailSpec *spec, int host_root_fd, Error *reterr);

/* On any other template, after the host's root is detached. */
int names_adapt(const JailSpec *spec, Error *reterr);
