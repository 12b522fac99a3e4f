#include "gate/dns/dns-message.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"

#define HEADER_SIZE 12
#define LABEL_MAX   63

enum {
        FLAG_RESPONSE = 1 << 15,
        FLAG_TRUNCATED = 1 << 9,
        FLAG_RECURSION_DESIRED = 1 << 8,
        FLAG_RECURSION_AVAILABLE = 1 << 7,
        FLAG_CHECKING_DISABLED = 1 << 4,
};

#define OPT_EXTENDED_ERROR 15
#define OPT_DNSSEC_OK      (1 << 15)
#define OPT_SIZE           11 /* of a record without options */
#define POINTER_TO_NAME    0xc00c /* the question's name always lies behind the header */

/* The rest of a message; empty after a failure. */
typedef struct DnsMessageReader {
        const uint8_t *data;
        size_t size;
        bool failed;
} DnsMessageReader;

static const uint8_t *dns_message_take(DnsMessageReader *r, size_t n) {
        const uint8_t *p = r->data;

        if (r->failed || n > r->size) {
                r->failed = true;
                return NULL;
        }
        r->data += n;
        r->size -= n;
        return p;
}

static uint8_t take8(DnsMessageReader *r) {
        const uint8_t *p = dns_message_take(r, 1);

        return p ? *p : 0;
}

static uint16_t take16(DnsMessageReader *r) {
        const uint8_t *p = dns_message_take(r, 2);

        return p ? (uint16_t) (p[0] << 8 | p[1]) : 0;
}

/* Returns a letter in lower case, digit, '-' or '_', or 0. Other bytes are legal in DNS, but no host has
 * them in its name, and a NUL or a dot in a label would mean something else in text. */
static char name_character(uint8_t c) {
        if (c >= 'A' && c <= 'Z')
                return (char) (c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
                return (char) c;
        return 0;
}

static int take_label(DnsMessageReader *r, uint8_t length, DnsQuestion *q, size_t *text_size) {
        const uint8_t *label = dns_message_take(r, length);

        /* 254 bytes on the wire and the final 0 are 253 characters */
        if (!label || q->wire_size + 1 + length + 1 > DNS_WIRE_MAX)
                return -EINVAL;
        q->wire[q->wire_size++] = length;
        memcpy(q->wire + q->wire_size, label, length);
        q->wire_size = (uint8_t) (q->wire_size + length);

        if (*text_size > 0)
                q->name[(*text_size)++] = '.';
        for (uint8_t i = 0; i < length; i++) {
                char c = name_character(label[i]);

                if (c == 0)
                        return -EINVAL;
                q->name[(*text_size)++] = c;
        }
        return 0;
}

static int dns_message_take_name(DnsMessageReader *r, DnsQuestion *q) {
        size_t text_size = 0;

        for (;;) {
                uint8_t length = take8(r);

                if (r->failed || length > LABEL_MAX) /* pointers have the two highest bits */
                        return -EINVAL;
                if (length == 0)
                        break;
                if (take_label(r, length, q, &text_size) < 0)
                        return -EINVAL;
        }
        q->wire[q->wire_size++] = 0;
        q->name[text_size] = '\0';
        return 0;
}

/* Reads one record, which must be EDNS of version 0. Its options are skipped; their lengths must add up. */
static DnsRcode take_edns(DnsMessageReader *r, DnsQuestion *q) {
        uint8_t root = take8(r);
        uint16_t type = take16(r), size = take16(r);
        const uint8_t *ttl = dns_message_take(r, 4);
        uint16_t length = take16(r);
        DnsMessageReader options = { dns_message_take(r, length), length, false };

        if (r->failed || !ttl || root != 0 || type != DNS_TYPE_OPT)
                return DNS_FORMERR;
        while (options.size > 0 && !options.failed) {
                (void) take16(&options);
                (void) dns_message_take(&options, take16(&options));
        }
        if (options.failed)
                return DNS_FORMERR;
        q->edns = true;
        q->udp_size = size < DNS_UDP_SIZE_MIN ? DNS_UDP_SIZE_MIN : MIN_OF(size, (uint16_t) DNS_UDP_SIZE_MAX);
        q->dnssec_ok = ttl[2] & 0x80;
        return ttl[1] == 0 ? DNS_NOERROR : DNS_BADVERS;
}

static DnsRcode take_question(DnsMessageReader *r, const uint16_t counts[static 4], DnsQuestion *q) {
        DnsQuestion whole = *q;

        if (q->opcode != 0)
                return DNS_NOTIMP;
        if (counts[0] != 1 || counts[1] != 0 || counts[2] != 0 || counts[3] > 1)
                return DNS_FORMERR;
        if (dns_message_take_name(r, &whole) < 0)
                return DNS_FORMERR;
        whole.type = take16(r);
        whole.class = take16(r);
        if (r->failed)
                return DNS_FORMERR;
        *q = whole;
        if (counts[3] == 1) {
                DnsRcode rcode = take_edns(r, q);

                if (rcode != DNS_NOERROR)
                        return rcode;
        }
        return r->size == 0 ? DNS_NOERROR : DNS_FORMERR;
}

int dns_question_parse(const uint8_t *data, size_t size, DnsQuestion *ret) {
        DnsMessageReader r = { data, size, false };
        DnsQuestion q = { .udp_size = DNS_UDP_SIZE_MIN };
        uint16_t flags, counts[4];
        int rcode;

        q.id = take16(&r);
        flags = take16(&r);
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                counts[i] = take16(&r);
        if (r.failed || (flags & FLAG_RESPONSE)) /* answering answers would be a loop */
                return -EBADMSG;
        q.opcode = (flags >> 11) & 0xf;
        q.recursion_desired = flags & FLAG_RECURSION_DESIRED;
        q.checking_disabled = flags & FLAG_CHECKING_DISABLED;
        rcode = (int) take_question(&r, counts, &q);
        *ret = q;
        return rcode;
}

typedef struct DnsMessageWriter {
        uint8_t *data;
        size_t size, max;
} DnsMessageWriter;

static bool dns_message_fits(const DnsMessageWriter *w, size_t n) {
        return n <= w->max - w->size;
}

/* Callers have checked dns_message_fits(). */
static void dns_message_put(DnsMessageWriter *w, const void *data, size_t n) {
        memcpy(w->data + w->size, data, n);
        w->size += n;
}

static void put16(DnsMessageWriter *w, uint16_t v) {
        const uint8_t bytes[] = { (uint8_t) (v >> 8), (uint8_t) v };

        dns_message_put(w, bytes, sizeof(bytes));
}

static void put32(DnsMessageWriter *w, uint32_t v) {
        put16(w, (uint16_t) (v >> 16));
        put16(w, (uint16_t) v);
}

static void dns_message_put_header(DnsMessageWriter *w, const DnsQuestion *q, const DnsAnswer *a, bool truncated, size_t n_answers) {
        unsigned flags = FLAG_RESPONSE | FLAG_RECURSION_AVAILABLE | (unsigned) q->opcode << 11 | ((unsigned) a->rcode & 0xf);

        if (truncated)
                flags |= FLAG_TRUNCATED;
        if (q->recursion_desired)
                flags |= FLAG_RECURSION_DESIRED;
        if (q->checking_disabled)
                flags |= FLAG_CHECKING_DISABLED;
        put16(w, q->id);
        put16(w, (uint16_t) flags);
        put16(w, q->wire_size > 0 ? 1 : 0);
        put16(w, (uint16_t) n_answers);
        put16(w, 0);
        put16(w, q->edns ? 1 : 0);
}

static void dns_message_put_address(DnsMessageWriter *w, const DnsQuestion *q, const IpAddress *address, uint32_t ttl) {
        uint16_t size = q->type == DNS_TYPE_A ? 4 : 16;

        put16(w, POINTER_TO_NAME);
        put16(w, q->type);
        put16(w, DNS_CLASS_IN);
        put32(w, ttl);
        put16(w, size);
        dns_message_put(w, address->bytes + sizeof(address->bytes) - size, size);
}

/* Does not cut in the middle of a character of several bytes. */
static size_t text_cut(const char *text, size_t max) {
        size_t n = strnlen(text, max + 1);

        if (n <= max)
                return n;
        n = max;
        while (n > 0 && ((uint8_t) text[n] & 0xc0) == 0x80)
                n--;
        return n;
}

static void put_edns(DnsMessageWriter *w, const DnsQuestion *q, const DnsAnswer *a) {
        size_t text_size = 0;
        bool extended = a->extended != DNS_EXTENDED_NONE && dns_message_fits(w, OPT_SIZE + 6);

        if (extended && a->text)
                text_size = text_cut(a->text, w->max - w->size - OPT_SIZE - 6);
        dns_message_put(w, "", 1); /* the root's name */
        put16(w, DNS_TYPE_OPT);
        put16(w, DNS_UDP_SIZE_MAX);
        put16(w, (uint16_t) (((unsigned) a->rcode >> 4) << 8)); /* the rcode's upper bits, version 0 */
        put16(w, q->dnssec_ok ? OPT_DNSSEC_OK : 0);
        put16(w, (uint16_t) (extended ? 6 + text_size : 0));
        if (!extended)
                return;
        put16(w, OPT_EXTENDED_ERROR);
        put16(w, (uint16_t) (2 + text_size));
        put16(w, (uint16_t) a->extended);
        if (text_size > 0)
                dns_message_put(w, a->text, text_size);
}

size_t dns_answer_write(const DnsQuestion *q, const DnsAnswer *a, uint8_t *ret, size_t max) {
        size_t fixed = HEADER_SIZE + (q->wire_size > 0 ? q->wire_size + 4u : 0) + (q->edns ? OPT_SIZE : 0);
        size_t each = 12 + (q->type == DNS_TYPE_A ? 4 : 16);
        bool truncated = fixed + a->n_addresses * each > max;
        size_t n = truncated ? 0 : a->n_addresses;
        DnsMessageWriter w = { ret, 0, max };

        dns_message_put_header(&w, q, a, truncated, n);
        if (q->wire_size > 0) {
                dns_message_put(&w, q->wire, q->wire_size);
                put16(&w, q->type);
                put16(&w, q->class);
        }
        for (size_t i = 0; i < n; i++)
                dns_message_put_address(&w, q, a->addresses + i, a->ttl);
        if (q->edns)
                put_edns(&w, q, a);
        return w.size;
}
