/* dns-message.h: DNS messages as bytes: parses a guest's question, writes the gate's answer.
 *
 * Strict: exactly one question; class and type as received; a name of ordinary host name characters, written
 * out (no compression); EDNS version 0 at most once; nothing after it. Anything that two parsers could read
 * in two ways is malformed.
 * Answers carry the asked name and its addresses directly: no CNAMEs, no other sections, and, with EDNS, an
 * extended error (RFC 8914) with text.
 * Must not know: sockets, policy, sandboxes, where addresses come from. Upstream's answers are parsed by
 * c-ares (upstream.c). */
#pragma once

#include "policy/egress.h"

#define DNS_NAME_MAX     EGRESS_DOMAIN_MAX /* as text, with the NUL */
#define DNS_WIRE_MAX     255
#define DNS_UDP_SIZE_MIN 512
#define DNS_UDP_SIZE_MAX 1232 /* fits into every path's packets */
#define DNS_ANSWER_MAX   2048 /* more than the gate's answers need */
#define DNS_QUESTION_MAX 4096 /* including padding; longer ones are not read */

typedef enum DnsType {
        DNS_TYPE_A = 1,
        DNS_TYPE_AAAA = 28,
        DNS_TYPE_SRV = 33,
        DNS_TYPE_OPT = 41,
} DnsType;

#define DNS_CLASS_IN 1

typedef enum DnsRcode {
        DNS_NOERROR = 0,
        DNS_FORMERR = 1,
        DNS_SERVFAIL = 2,
        DNS_NXDOMAIN = 3,
        DNS_NOTIMP = 4,
        DNS_REFUSED = 5,
        DNS_BADVERS = 16, /* of EDNS; needs an OPT record in the answer */
} DnsRcode;

/* Extended errors. 0 ("other" in the RFC) stands for none: the gate never sends "other". */
typedef enum DnsExtended {
        DNS_EXTENDED_NONE = 0,
        DNS_BLOCKED = 15,
        DNS_NO_REACHABLE_AUTHORITY = 22,
        DNS_NETWORK_ERROR = 23,
} DnsExtended;

typedef struct DnsQuestion {
        uint16_t id;
        uint8_t opcode;
        bool recursion_desired, checking_disabled;
        uint16_t type, class;
        char name[DNS_NAME_MAX];    /* lower case, no final dot; "": the root */
        uint8_t wire[DNS_WIRE_MAX]; /* the name as received: some resolvers randomise its case as a guard */
        uint8_t wire_size;          /* 0: no readable name */
        bool edns, dnssec_ok;
        uint16_t udp_size; /* limit for a UDP answer, between DNS_UDP_SIZE_MIN and _MAX */
} DnsQuestion;

/* -EBADMSG: not a question; do not answer. Otherwise *ret is filled as far as it could be read, and the
 * result is the rcode (0 or more) that the answer must have: DNS_NOERROR for a valid question. */
int dns_question_parse(const uint8_t *data, size_t size, DnsQuestion *ret);

typedef struct DnsAnswer {
        DnsRcode rcode;
        const IpAddress *addresses; /* of the family of the question's type */
        size_t n_addresses;
        uint32_t ttl;
        DnsExtended extended;
        const char *text; /* of the extended error; NULL: none. UTF-8; truncated if it does not fit */
} DnsAnswer;

/* Returns the bytes written, never more than max (which is at least DNS_UDP_SIZE_MIN). If something does not
 * fit, it is left out and the answer is marked as truncated, so that the client retries by TCP. */
size_t dns_answer_write(const DnsQuestion *q, const DnsAnswer *a, uint8_t *ret, size_t max);
