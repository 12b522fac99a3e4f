/* range.c: addresses, ranges of them, and those that are nobody's on the internet. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "policy/internal.h"

#define MAPPED_BITS 96
#define ADDRESS_MAX 46

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

static bool is_mapped(const EgressAddress *a) {
        return memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

static EgressAddress from_ipv4(const uint8_t bytes[static 4]) {
        EgressAddress a;

        memcpy(a.bytes, mapped, sizeof(mapped));
        memcpy(a.bytes + sizeof(mapped), bytes, 4);
        return a;
}

int egress_address_parse(const char *text, EgressAddress *ret) {
        uint8_t four[4];

        if (inet_pton(AF_INET, text, four) == 1) {
                *ret = from_ipv4(four);
                return 0;
        }
        return inet_pton(AF_INET6, text, ret->bytes) == 1 ? 0 : -EINVAL;
}

void egress_address_format(const EgressAddress *a, char ret[static 46]) {
        if (is_mapped(a))
                (void) inet_ntop(AF_INET, a->bytes + sizeof(mapped), ret, ADDRESS_MAX);
        else
                (void) inet_ntop(AF_INET6, a->bytes, ret, ADDRESS_MAX);
}

static bool same_bits(const EgressAddress *a, const EgressAddress *b, unsigned bits) {
        unsigned whole = bits / 8, rest = bits % 8;

        if (memcmp(a->bytes, b->bytes, whole) != 0)
                return false;
        return rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

static bool has_bits_below(const EgressAddress *a, unsigned bits) {
        EgressAddress zero = *a;
        unsigned whole = bits / 8;

        if (bits == 128)
                return false;
        zero.bytes[whole] &= (uint8_t) ~(0xff >> bits % 8);
        memset(zero.bytes + whole + 1, 0, sizeof(zero.bytes) - whole - 1);
        return memcmp(zero.bytes, a->bytes, sizeof(zero.bytes)) != 0;
}

/* -EDOM: there are bits below the mask: either the address or the mask is not what was meant. */
int egress_range_parse(const char *text, EgressRange *ret) {
        const char *slash = strchr(text, '/');
        char address[ADDRESS_MAX];
        size_t n = slash ? (size_t) (slash - text) : strlen(text);
        uint64_t bits, most;
        EgressRange range;

        if (n >= sizeof(address))
                return -EINVAL;
        memcpy(address, text, n);
        address[n] = '\0';
        if (egress_address_parse(address, &range.base) < 0)
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

void egress_range_format(const EgressRange *r, char ret[static 64]) {
        char address[ADDRESS_MAX];

        egress_address_format(&r->base, address);
        if (r->bits == 128)
                (void) snprintf(ret, 64, "%s", address);
        else
                (void) snprintf(ret, 64, "%s/%d", address, strchr(address, ':') ? r->bits : r->bits - MAPPED_BITS);
}

static bool is_ipv4(const EgressRange *r) {
        return r->bits >= MAPPED_BITS && is_mapped(&r->base);
}

/* "::/0" is the whole of IPv6 to those who write it; IPv4 only looks as if it were within. */
bool egress_range_has(const EgressRange *r, const EgressAddress *a) {
        return is_ipv4(r) == is_mapped(a) && same_bits(&r->base, a, r->bits);
}

bool egress_range_within(const EgressRange *inner, const EgressRange *outer) {
        return inner->bits >= outer->bits && is_ipv4(inner) == is_ipv4(outer) && same_bits(&inner->base, &outer->base, outer->bits);
}

/* Special ranges: nobody reaches them through the internet, so whoever asks for one means something near us. Ranges for documentation
 * are not here: nobody has them, which is what tests want. */
typedef struct Special {
        EgressRange range;
        const char *words;
} Special;

#define V4(a, b, c, d, n, text) { { { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d } }, MAPPED_BITS + (n) }, text }

static const Special specials[] = {
        V4(0, 0, 0, 0, 8, "this network"),
        V4(10, 0, 0, 0, 8, "a private network"),
        V4(100, 64, 0, 0, 10, "a provider's own network"),
        V4(127, 0, 0, 0, 8, "loopback"),
        V4(169, 254, 0, 0, 16, "link-local, where clouds keep their metadata"),
        V4(172, 16, 0, 0, 12, "a private network"),
        V4(192, 0, 0, 0, 24, "reserved for protocols"),
        V4(192, 88, 99, 0, 24, "a relay of 6to4"),
        V4(192, 168, 0, 0, 16, "a private network"),
        V4(198, 18, 0, 0, 15, "reserved for measurements"),
        V4(224, 0, 0, 0, 4, "multicast"),
        V4(240, 0, 0, 0, 4, "reserved"),
        { { { { 0 } }, 96 }, "loopback, unspecified, or IPv4 in a form nobody routes" }, /* ::, ::1, ::a.b.c.d */
        { { { { 0, 0x64, 0xff, 0x9b, 0, 1 } }, 48 }, "a translator's own network" },
        { { { { 0x01 } }, 64 }, "discarded" },
        { { { { 0x20, 0x01 } }, 23 }, "reserved for protocols" }, /* Teredo, ORCHID, … */
        { { { { 0x5f } }, 16 }, "a segment router's own network" },
        { { { { 0xfc } }, 7 }, "a private network" },
        { { { { 0xfe, 0x80 } }, 10 }, "link-local" },
        { { { { 0xfe, 0xc0 } }, 10 }, "site-local" },
        { { { { 0xff } }, 8 }, "multicast" },
};

/* Routers on the way make IPv4 of these. */
static const struct {
        EgressRange range;
        unsigned at; /* byte at which the IPv4 address begins */
} embedding[] = {
        { { { { 0, 0x64, 0xff, 0x9b } }, 96 }, 12 },                 /* NAT64 */
        { { { { 0x20, 0x02 } }, 16 }, 2 },                           /* 6to4 */
        { { { { 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff } }, 96 }, 12 },  /* SIIT */
};

bool egress_address_embedded(const EgressAddress *a, EgressAddress *ret) {
        for (size_t i = 0; i < ELEMENTSOF(embedding); i++)
                if (egress_range_has(&embedding[i].range, a)) {
                        *ret = from_ipv4(a->bytes + embedding[i].at);
                        return true;
                }
        return false;
}

static const char *find_special(const EgressRange *r) {
        for (size_t i = 0; i < ELEMENTSOF(specials); i++)
                if (egress_range_within(r, &specials[i].range))
                        return specials[i].words;
        return NULL;
}

/* The range as one of IPv4, when all of it is translated. */
static bool range_embedded(const EgressRange *r, EgressRange *ret) {
        for (size_t i = 0; i < ELEMENTSOF(embedding); i++) {
                unsigned before = embedding[i].at * 8;

                if (!egress_range_within(r, &embedding[i].range))
                        continue;
                ret->base = from_ipv4(r->base.bytes + embedding[i].at);
                ret->bits = (uint8_t) (MAPPED_BITS + MIN_OF(r->bits - before, 32U));
                return true;
        }
        return false;
}

const char *egress_range_special(const EgressRange *r) {
        EgressRange inner;

        return find_special(range_embedded(r, &inner) ? &inner : r);
}

const char *egress_address_special(const EgressAddress *a) {
        return egress_range_special(&(EgressRange) { *a, 128 });
}

bool egress_address_is_special(const EgressAddress *a) {
        return egress_address_special(a);
}

bool egress_is_reachable(const EgressRange *reachable, size_t n, const EgressAddress *a) {
        if (!egress_address_is_special(a))
                return true;
        for (size_t i = 0; i < n; i++)
                if (egress_range_has(reachable + i, a))
                        return true;
        return false;
}
