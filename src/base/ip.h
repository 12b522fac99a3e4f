/* ip.h: addresses and ranges of them as bytes and as text, and whose they are. The one table of special ranges.
 *
 * Pure: which addresses this machine has is address.h's. Must not know: policies, sockets. */
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
int ip_range_parse(const char *text, IpRange *ret); /* -EDOM: there are bits below the mask: either the address or the mask is not what was meant */
void ip_range_format(const IpRange *r, char ret[static IP_RANGE_TEXT_MAX]); /* a single address without its bits */
bool ip_range_has(const IpRange *r, const IpAddress *a);
bool ip_is_in(const IpRange *ranges, size_t n, const IpAddress *a); /* any of them */
bool ip_range_within(const IpRange *inner, const IpRange *outer);

/* Nobody reaches special ranges through the Internet, so whoever asks for one means something near us. IPv6 that routers make IPv4 of is what it stands
 * for. Ranges for documentation are not special: nobody has them, which is what tests want. */
typedef enum IpKind {
        IP_PUBLIC,  /* somebody's on the Internet */
        IP_PRIVATE, /* of a network behind routers of ours, of carriers, or nobody's */
        IP_INSIDE,  /* this machine, what is next to it without a router (where clouds keep their credentials), or nobody in particular */
} IpKind;

bool ip_embedded(const IpAddress *a, IpAddress *ret); /* the IPv4 in it, of a form that routers translate */
IpKind ip_kind(const IpAddress *a);
const char *ip_range_special(const IpRange *r); /* what it is, when all of it is special; NULL otherwise */
const char *ip_special(const IpAddress *a);     /* likewise */

/* Who may go where. */
typedef enum IpReach {
        IP_REACH_PUBLIC,  /* who says nothing gets the least */
        IP_REACH_OUTSIDE, /* whatever is not inside */
        IP_REACH_ALL,     /* the operator has named it */
} IpReach;

/* listed: what the operator allows besides. address_is_reachable() knows this machine's own addresses as well. */
bool ip_is_reachable(const IpAddress *a, IpReach reach, const IpRange *listed, size_t n_listed);
