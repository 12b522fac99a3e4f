/* net-internal.h: shared by the files of net.h. All of it runs in the maker, inside of what is being made. */
#pragma once

#include "jail/net.h"

#define NET_LO_INDEX 1 /* in every namespace */

int net_open_own(void); /* the namespace that we are in */

int net_setup_gated(Network *n, Error *reterr);

/* Begins and ends in the sandbox's own namespace, and visits the hub. */
int net_setup_linked(const NetRequest *q, Network *n, Error *reterr);

/* The socket that questions for names end in. address: of IPv4, host byte order; 0: all of them, of IPv6 too. */
int net_open_names(uint32_t address);
