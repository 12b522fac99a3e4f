/* Any bytes as a question of a guest: what is read is bounded and says the same as text and on the wire, and what we answer fits and is an answer
 * to it, whatever it is that we say. The first byte says what. */
#include "fuzz.h"

#include <stdbool.h>

#include "gate/dns/dns-message.h"

static void check_name(const DnsQuestion *q) {
        size_t length = strlen(q->name);

        if (q->wire_size == 0) {
                MUST(length == 0);
                return;
        }
        MUST(q->wire[q->wire_size - 1] == 0);
        MUST(q->wire_size == (length > 0 ? length + 2 : 1));
        for (size_t i = 0; i < length; i++) {
                char c = q->name[i];

                MUST((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.');
                MUST(c != '.' || (i > 0 && i + 1 < length && q->name[i - 1] != '.'));
        }
}

static DnsAnswer answer_make(uint8_t how, int rcode, const IpAddress *addresses) {
        bool good = rcode == DNS_NOERROR && !(how & 1);

        return (DnsAnswer) {
                .rcode = rcode != DNS_NOERROR ? (DnsRcode) rcode : how & 1 ? DNS_REFUSED : DNS_NOERROR,
                .addresses = addresses,
                .n_addresses = good ? how >> 4 : 0,
                .ttl = how,
                .extended = how & 2 ? DNS_BLOCKED : DNS_EXTENDED_NONE,
                .text = how & 4 ? "ä is denied: nothing allows it, and this is why, in so many words that they may not all fit into the answer: "
                                  "………………………………………………………………………………………………………………………………………………………………………………………………………………………………" : NULL,
        };
}

static void check_answer(const DnsQuestion *q, const DnsAnswer *a, const uint8_t *data, size_t max) {
        uint8_t answer[DNS_ANSWER_MAX];
        DnsQuestion again;
        size_t size = dns_answer_write(q, a, answer, max);

        MUST(size >= 12 && size <= max);
        MUST(memcmp(answer, data, 2) == 0);
        MUST(answer[2] & 0x80);
        MUST(dns_question_parse(answer, size, &again) < 0);
        /* made a question again, ours is as strict as what we ask of others */
        if (q->wire_size == 0 || a->n_addresses > 0)
                return;
        answer[2] &= 0x7f;
        MUST(dns_question_parse(answer, size, &again) == (q->opcode == 0 ? DNS_NOERROR : DNS_NOTIMP));
        MUST(strcmp(again.name, q->name) == 0 && again.type == q->type && again.class == q->class);
        MUST(memcmp(again.wire, q->wire, q->wire_size) == 0);
        MUST(again.edns == q->edns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        IpAddress addresses[16] = { 0 };
        DnsQuestion q;
        DnsAnswer a;
        uint8_t how;
        int rcode;

        if (size < 1 || size > 70000)
                return 0;
        how = *data++;
        size--;
        rcode = dns_question_parse(data, size, &q);
        if (rcode < 0)
                return 0;
        MUST(q.udp_size >= DNS_UDP_SIZE_MIN && q.udp_size <= DNS_UDP_SIZE_MAX);
        MUST(rcode != DNS_NOERROR || q.wire_size > 0);
        check_name(&q);
        a = answer_make(how, rcode, addresses);
        check_answer(&q, &a, data, q.udp_size);
        check_answer(&q, &a, data, DNS_ANSWER_MAX);
        return 0;
}
