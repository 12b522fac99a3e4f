#include "base/ip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"

#define MAPPED_BITS 96

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool ip_is_v4(const IpAddress *a) {
        return memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

IpAddress ip_from_v4(const uint8_t bytes[static 4]) {
        IpAddress a;

        memcpy(a.bytes, mapped, sizeof(mapped));
        memcpy(a.bytes + sizeof(mapped), bytes, 4);
        return a;
}

int ip_parse(const char *text, IpAddress *ret) {
        uint8_t four[4];

        if (inet_pton(AF_INET, text, four) == 1) {
                *ret = ip_from_v4(four);
                return 0;
        }
        return inet_pton(AF_INET6, text, ret->bytes) == 1 ? 0 : -EINVAL;
}

void ip_format(const IpAddress *a, char ret[static IP_TEXT_MAX]) {
        if (ip_is_v4(a))
                (void) inet_ntop(AF_INET, a->bytes + sizeof(mapped), ret, IP_TEXT_MAX);
        else
                (void) inet_ntop(AF_INET6, a->bytes, ret, IP_TEXT_MAX);
}

static bool same_bits(const IpAddress *a, const IpAddress *b, unsigned bits) {
        unsigned whole = bits / 8, rest = bits % 8;

        if (memcmp(a->bytes, b->bytes, whole) != 0)
                return false;
        return rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

static bool has_bits_below(const IpAddress *a, unsigned bits) {
        IpAddress zero = *a;
        unsigned whole = bits / 8;

        if (bits == 128)
                return false;
        zero.bytes[whole] &= (uint8_t) ~(0xff >> bits % 8);
        memset(zero.bytes + whole + 1, 0, sizeof(zero.bytes) - whole - 1);
        return memcmp(zero.bytes, a->bytes, sizeof(zero.bytes)) != 0;
}

int ip_range_parse(const char *text, IpRange *ret) {
        const char *slash = strchr(text, '/');
        char address[IP_TEXT_MAX];
        size_t n = slash ? (size_t) (slash - text) : strlen(text);
        uint64_t bits, most;
        IpRange range;

        if (n >= sizeof(address))
                return -EINVAL;
        memcpy(address, text, n);
        address[n] = '\0';
        if (ip_parse(address, &range.base) < 0)
                return -EINVAL;
        most = strchr(address, ':') ? 128 : 32;
        bits = most;
        if (slash && (strlen(slash + 1) > 3 || parse_uint64(slash + 1, 0, most, &bits) < 0))
                return -EINVAL;
        range.bits = (uint8_t) (bits + 128 - most);
        if (has_bits_below(&range.base, range.bits))
                return -EDOM;
        *ret = range;
        return 0;
}

void ip_range_format(const IpRange *r, char ret[static IP_RANGE_TEXT_MAX]) {
        char address[IP_TEXT_MAX];

        ip_format(&r->base, address);
        if (r->bits == 128)
                (void) snprintf(ret, IP_RANGE_TEXT_MAX, "%s", address);
        else
                (void) snprintf(ret, IP_RANGE_TEXT_MAX, "%s/%d", address, strchr(address, ':') ? r->bits : r->bits - MAPPED_BITS);
}

static bool is_ipv4(const IpRange *r) {
        return r->bits >= MAPPED_BITS && ip_is_v4(&r->base);
}

/* "::/0" means all of IPv6; IPv4 addresses do not match it, although their mapped form would. */
bool ip_range_has(const IpRange *r, const IpAddress *a) {
        return is_ipv4(r) == ip_is_v4(a) && same_bits(&r->base, a, r->bits);
}

bool ip_is_in(const IpRange *ranges, size_t n, const IpAddress *a) {
        for (size_t i = 0; i < n; i++)
                if (ip_range_has(ranges + i, a))
                        return true;
        return false;
}

bool ip_range_within(const IpRange *inner, const IpRange *outer) {
        return inner->bits >= outer->bits && is_ipv4(inner) == is_ipv4(outer) && same_bits(&inner->base, &outer->base, outer->bits);
}

/* IANA's registries of special addresses, as far as they are not globally reachable. The first that fits counts. */
typedef struct Special {
        IpRange range;
        IpKind kind;
        const char *words;
} Special;

#define V4(a, b, c, d, n) { { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d } }, MAPPED_BITS + (n) }
#define V6(n, ...)        { { { __VA_ARGS__ } }, (n) }

static const Special specials[] = {
        { V4(0, 0, 0, 0, 8),                        IP_INSIDE,  "this network"                                           }, /* many kernels take it for this machine */
        { V4(10, 0, 0, 0, 8),                       IP_PRIVATE, "a private network"                                      },
        { V4(100, 100, 100, 200, 32),               IP_INSIDE,  "where a cloud keeps its metadata"                       },
        { V4(100, 64, 0, 0, 10),                    IP_PRIVATE, "a provider's own network"                               },
        { V4(127, 0, 0, 0, 8),                      IP_INSIDE,  "loopback"                                               },
        { V4(169, 254, 0, 0, 16),                   IP_INSIDE,  "link-local, where clouds keep their metadata"           },
        { V4(172, 16, 0, 0, 12),                    IP_PRIVATE, "a private network"                                      },
        { V4(192, 0, 0, 0, 24),                     IP_PRIVATE, "reserved for protocols"                                 },
        { V4(192, 88, 99, 0, 24),                   IP_PRIVATE, "a relay of 6to4"                                        },
        { V4(192, 168, 0, 0, 16),                   IP_PRIVATE, "a private network"                                      },
        { V4(198, 18, 0, 0, 15),                    IP_PRIVATE, "reserved for measurements"                              },
        { V4(224, 0, 0, 0, 4),                      IP_INSIDE,  "multicast"                                              },
        { V4(240, 0, 0, 0, 4),                      IP_INSIDE,  "reserved"                                               },
        { V6(96, 0),                                IP_INSIDE,  "loopback, unspecified, or IPv4 in a form without a route" }, /* ::, ::1, ::a.b.c.d */
        { V6(48, 0, 0x64, 0xff, 0x9b, 0, 1),        IP_INSIDE,  "a translator's own network"                             }, /* whatever the translator makes of it */
        { V6(64, 0x01),                             IP_PRIVATE, "discarded"                                              },
        { V6(23, 0x20, 0x01),                       IP_PRIVATE, "reserved for protocols"                                 }, /* Teredo, ORCHID, … */
        { V6(16, 0x5f),                             IP_PRIVATE, "a segment router's own network"                         },
        { V6(128, 0xfd, 0, 0x0e, 0xc2, [14] = 0x02, 0x54), IP_INSIDE, "where a cloud keeps its metadata"                 },
        { V6(7, 0xfc),                              IP_PRIVATE, "a private network"                                      },
        { V6(10, 0xfe, 0x80),                       IP_INSIDE,  "link-local"                                             },
        { V6(10, 0xfe, 0xc0),                       IP_PRIVATE, "site-local"                                             },
        { V6(8, 0xff),                              IP_INSIDE,  "multicast"                                              },
        { V6(3, 0),                                 IP_PRIVATE, "not assigned"                                           }, /* 2000::/3 is the allocated part */
        { V6(2, 0x40),                              IP_PRIVATE, "not assigned"                                           },
        { V6(1, 0x80),                              IP_PRIVATE, "not assigned"                                           },
};

/* Routers on the way translate these to IPv4. */
static const struct {
        IpRange range;
        unsigned at; /* byte at which the IPv4 address begins */
} embedding[] = {
        { { { { 0, 0x64, 0xff, 0x9b } }, 96 }, 12 },                 /* NAT64 */
        { { { { 0x20, 0x02 } }, 16 }, 2 },                           /* 6to4 */
        { { { { 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff } }, 96 }, 12 },  /* SIIT */
};

bool ip_embedded(const IpAddress *a, IpAddress *ret) {
        for (size_t i = 0; i < ELEMENTSOF(embedding); i++)
                if (ip_range_has(&embedding[i].range, a)) {
                        *ret = ip_from_v4(a->bytes + embedding[i].at);
                        return true;
                }
        return false;
}

static const Special *find_special(const IpRange *r) {
        for (size_t i = 0; i < ELEMENTSOF(specials); i++)
                if (ip_range_within(r, &specials[i].range))
                        return specials + i;
        return NULL;
}

/* The range as one of IPv4, when all of it is translated. */
static bool range_embedded(const IpRange *r, IpRange *ret) {
        for (size_t i = 0; i < ELEMENTSOF(embedding); i++) {
                unsigned before = embedding[i].at * 8;

                if (!ip_range_within(r, &embedding[i].range))
                        continue;
                ret->base = ip_from_v4(r->base.bytes + embedding[i].at);
                ret->bits = (uint8_t) (MAPPED_BITS + MIN_OF(r->bits - before, 32U));
                return true;
        }
        return false;
}

static const Special *special_of(const IpRange *r) {
        IpRange inner;

        return find_special(range_embedded(r, &inner) ? &inner : r);
}

const char *ip_range_special(const IpRange *r) {
        const Special *s = special_of(r);

        return s ? s->words : NULL;
}

const char *ip_special(const IpAddress *a) {
        return ip_range_special(&(IpRange) { *a, 128 });
}

IpKind ip_kind(const IpAddress *a) {
        const Special *s = special_of(&(IpRange) { *a, 128 });

        return s ? s->kind : IP_PUBLIC;
}

bool ip_is_reachable(const IpAddress *a, IpReach reach, const IpRange *listed, size_t n_listed) {
        IpKind kind = reach == IP_REACH_ALL ? IP_PUBLIC : ip_kind(a);

        return kind == IP_PUBLIC || (kind == IP_PRIVATE && reach == IP_REACH_OUTSIDE) || ip_is_in(listed, n_listed, a);
}
