/* ip.h: IP addresses and ranges as bytes and as text, and the one table of special ranges.
 *
 * Pure; address.h knows the addresses of this machine. Must not know: policies, sockets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* IPv6; IPv4 as ::ffff:a.b.c.d. */
typedef struct IpAddress {
        uint8_t bytes[16];
} IpAddress;

typedef struct IpRange {
        IpAddress base;
        uint8_t bits; /* of 128 */
} IpRange;

#define IP_TEXT_MAX       46
#define IP_RANGE_TEXT_MAX 64

IpAddress ip_from_v4(const uint8_t bytes[static 4]);
bool ip_is_v4(const IpAddress *a);

int ip_parse(const char *text, IpAddress *ret);
void ip_format(const IpAddress *a, char ret[static IP_TEXT_MAX]);
int ip_range_parse(const char *text, IpRange *ret); /* -EDOM: bits are set below the mask: the address or the mask is mistyped */
void ip_range_format(const IpRange *r, char ret[static IP_RANGE_TEXT_MAX]); /* a single address without its bits */
bool ip_range_has(const IpRange *r, const IpAddress *a);
bool ip_is_in(const IpRange *ranges, size_t n, const IpAddress *a); /* any of them */
bool ip_range_within(const IpRange *inner, const IpRange *outer);

/* Special ranges are not routed on the Internet, so an address in one means something near this machine. An IPv6
 * address that routers translate to IPv4 has the kind of that IPv4 address. Ranges for documentation are not special:
 * no host has them, which suits tests. */
typedef enum IpKind {
        IP_PUBLIC,  /* on the Internet */
        IP_PRIVATE, /* in a network behind our routers or a carrier's, or unassigned */
        IP_INSIDE,  /* this machine, its link-local neighbours (where clouds keep their credentials), multicast or reserved */
} IpKind;

bool ip_embedded(const IpAddress *a, IpAddress *ret); /* the IPv4 address in it, if it has a form that routers translate */
IpKind ip_kind(const IpAddress *a);
const char *ip_range_special(const IpRange *r); /* describes it if the whole range is special; else NULL */
const char *ip_special(const IpAddress *a);     /* likewise */

/* Which addresses a client may connect to. */
typedef enum IpReach {
        IP_REACH_PUBLIC,  /* the default */
        IP_REACH_OUTSIDE, /* all but IP_INSIDE */
        IP_REACH_ALL,     /* the operator has named it */
} IpReach;

/* listed: ranges that the operator also allows. address_is_reachable() checks this machine's own addresses as well. */
bool ip_is_reachable(const IpAddress *a, IpReach reach, const IpRange *listed, size_t n_listed);
