/* net-internal.h: shared by the files of net.h. All of it runs in the maker process, inside the namespace being
 * made. */
#pragma once

#include "jail/net.h"

#define NET_LO_INDEX 1 /* in every namespace */

int net_open_own(void); /* the namespace that we are in */

int net_setup_gated(Network *n, Error *reterr);

/* Starts and ends in the sandbox's own namespace, and enters the hub in between. */
int net_setup_linked(const NetRequest *q, Network *n, Error *reterr);

/* The socket that receives the sandbox's DNS queries. address: IPv4, host byte order; 0: all addresses, IPv6 too. */
int net_open_names(uint32_t address);

/* Of the network namespace that the caller is in: net.ipv4.NAME. */
int net_write_setting(const NetRequest *q, const char *name, const char *value);
