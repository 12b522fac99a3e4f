/* Questions read strictly, answers that fit, and what glibc's own reader finds in them. */
#include "unit.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <resolv.h>
#include <stdio.h>
#include <string.h>

#include "gate/dns/dns-message.h"

typedef struct Bytes {
        uint8_t data[1024];
        size_t size;
} Bytes;

static void put(Bytes *b, const void *data, size_t size) {
        memcpy(b->data + b->size, data, size);
        b->size += size;
}

#define PUT(b, text) put(b, text, sizeof(text) - 1)

/* An ordinary question with recursion desired, id 0x1234. */
static Bytes header(uint8_t n_additional) {
        Bytes b = { .size = 0 };

        PUT(&b, "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00");
        put(&b, &n_additional, 1);
        return b;
}

static Bytes plain(void) {
        Bytes b = header(0);

        PUT(&b, "\7ExAmple\3org\0\0\1\0\1");
        return b;
}

static int parse(const Bytes *b, DnsQuestion *ret) {
        return dns_question_parse(b->data, b->size, ret);
}

TEST(a_question_is_read) {
        Bytes b = plain();
        DnsQuestion q;

        check_result("parse", parse(&b, &q), DNS_NOERROR);
        check_uint("id", q.id, 0x1234);
        check_string("name", q.name, "example.org");
        check_uint("type", q.type, DNS_TYPE_A);
        check_uint("class", q.class, DNS_CLASS_IN);
        check_true("rd", q.recursion_desired);
        check_true("no edns", !q.edns);
        check_uint("size", q.udp_size, 512);
        check_true("capitals are kept for the answer", memcmp(q.wire, "\7ExAmple\3org", 13) == 0 && q.wire_size == 13);
}

TEST(the_root_is_a_name) {
        Bytes b = header(0);
        DnsQuestion q;

        PUT(&b, "\0\0\2\0\1");
        check_result("parse", parse(&b, &q), DNS_NOERROR);
        check_string("name", q.name, "");
        check_uint("wire", q.wire_size, 1);
}

TEST(edns_says_how_much_fits) {
        static const struct {
                const char *opt;
                size_t size;
                int rcode;
                uint16_t udp_size;
        } table[] = {
#define OPT(text, rcode, udp_size) { text, sizeof(text) - 1, rcode, udp_size }
                OPT("\0\0\x29\x10\x00\0\0\x80\0\0\0", DNS_NOERROR, 1232),
                OPT("\0\0\x29\x00\x10\0\0\x80\0\0\0", DNS_NOERROR, 512),
                OPT("\0\0\x29\x03\x00\0\0\x80\0\0\x6\0\xa\0\2ab", DNS_NOERROR, 768),
                OPT("\0\0\x29\x03\x00\0\1\x80\0\0\0", DNS_BADVERS, 768),
                OPT("\0\0\x29\x03\x00\0\0\x80\0\0\x6\0\xa\0\3ab", DNS_FORMERR, 512), /* option longer than the record */
                OPT("\0\0\x29\x03\x00\0\0\x80\0\0\x5\0\xa\0\2ab", DNS_FORMERR, 512),
                OPT("\0\0\x29\x03\x00\0\0\x80\0\0\xff", DNS_FORMERR, 512),
                OPT("\1a\0\0\x29\x03\x00\0\0\x80\0\0\0", DNS_FORMERR, 512),
                OPT("\0\0\1\0\1\0\0\0\0\0\4\1\2\3\4", DNS_FORMERR, 512), /* another record than OPT */
                OPT("\0\0\x29\x10\x00\0\0\x80\0\0\0x", DNS_FORMERR, 1232), /* something behind */
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                Bytes b = header(1);
                DnsQuestion q;

                PUT(&b, "\1a\0\0\1\0\1");
                put(&b, table[i].opt, table[i].size);
                check_result("rcode", parse(&b, &q), table[i].rcode);
                check_uint("size", q.udp_size, table[i].udp_size);
                check_true("dnssec ok", q.dnssec_ok == q.edns);
                check_string("the name can be told", q.name, "a");
        }
}

TEST(what_is_no_good_question_is_answered_with_why) {
        static const struct {
                const char *what;
                const char *data;
                size_t size;
                int result;
        } table[] = {
#define RAW(what, text, result) { what, text, sizeof(text) - 1, result }
                RAW("nothing", "", -EBADMSG),
                RAW("short header", "\0\1\1\0\0\1\0\0\0\0\0", -EBADMSG),
                RAW("answer", "\0\1\x81\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", -EBADMSG),
                RAW("status", "\0\1\x11\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", DNS_NOTIMP),
                RAW("update", "\0\1\x28\0\0\1\0\0\0\0\0\0\1a\0\0\6\0\1", DNS_NOTIMP),
                RAW("no question", "\0\1\1\0\0\0\0\0\0\0\0\0", DNS_FORMERR),
                RAW("two questions", "\0\1\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1b\0\0\1\0\1", DNS_FORMERR),
                RAW("an answer in it", "\0\1\1\0\0\1\0\1\0\0\0\0\1a\0\0\1\0\1", DNS_FORMERR),
                RAW("an authority in it", "\0\1\1\0\0\1\0\0\0\1\0\0\1a\0\0\1\0\1", DNS_FORMERR),
                RAW("two additional", "\0\1\1\0\0\1\0\0\0\0\0\2\1a\0\0\1\0\1", DNS_FORMERR),
                RAW("additional that is missing", "\0\1\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1", DNS_FORMERR),
                RAW("pointer", "\0\1\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1", DNS_FORMERR),
                RAW("pointer behind a label", "\0\1\1\0\0\1\0\0\0\0\0\0\1a\xc0\x0c\0\1\0\1", DNS_FORMERR),
                RAW("extended label", "\0\1\1\0\0\1\0\0\0\0\0\0\x41" "a\0\0\1\0\1", DNS_FORMERR),
                RAW("label beyond the end", "\0\1\1\0\0\1\0\0\0\0\0\0\x3f" "abc", DNS_FORMERR),
                RAW("no end of the name", "\0\1\1\0\0\1\0\0\0\0\0\0\1a", DNS_FORMERR),
                RAW("no type", "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0", DNS_FORMERR),
                RAW("no class", "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0", DNS_FORMERR),
                RAW("something behind", "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1x", DNS_FORMERR),
                RAW("a NUL in a label", "\0\1\1\0\0\1\0\0\0\0\0\0\3a\0b\0\0\1\0\1", DNS_FORMERR),
                RAW("a dot in a label", "\0\1\1\0\0\1\0\0\0\0\0\0\3a.b\0\0\1\0\1", DNS_FORMERR),
                RAW("a space in a label", "\0\1\1\0\0\1\0\0\0\0\0\0\3a b\0\0\1\0\1", DNS_FORMERR),
                RAW("not ASCII", "\0\1\1\0\0\1\0\0\0\0\0\0\2\xc3\xa4\0\0\1\0\1", DNS_FORMERR),
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                uint8_t answer[DNS_UDP_SIZE_MIN];
                DnsQuestion q;
                size_t size;

                check_result(table[i].what, dns_question_parse((const uint8_t *) table[i].data, table[i].size, &q), table[i].result);
                if (table[i].result < 0)
                        continue;
                size = dns_answer_write(&q, &(DnsAnswer) { .rcode = (DnsRcode) table[i].result }, answer, sizeof(answer));
                check_true("an answer to it", size >= 12 && memcmp(answer, "\0\1", 2) == 0 && (answer[2] & 0x80));
                check_uint("rcode", answer[3] & 0xf, (unsigned) table[i].result);
        }
}

/* n labels of 63 characters, and one of last characters. */
static int parse_long(size_t n, size_t last, DnsQuestion *ret) {
        Bytes b = header(0);

        for (size_t i = 0; i <= n; i++) {
                uint8_t length = (uint8_t) (i < n ? 63 : last);

                put(&b, &length, 1);
                memset(b.data + b.size, 'a', length);
                b.size += length;
        }
        PUT(&b, "\0\0\1\0\1");
        return parse(&b, ret);
}

TEST(names_are_as_long_as_they_may_be) {
        DnsQuestion q;

        check_result("253", parse_long(3, 61, &q), DNS_NOERROR);
        check_uint("length", strlen(q.name), 253);
        check_uint("on the wire", q.wire_size, 255);
        check_result("254", parse_long(3, 62, &q), DNS_FORMERR);
        check_result("many more", parse_long(8, 63, &q), DNS_FORMERR);
        check_uint("nothing of it is kept", q.wire_size, 0);
        check_string("nor as text", q.name, "");
}

static IpAddress v4(uint8_t last) {
        return (IpAddress) { .bytes = { [10] = 0xff, 0xff, 192, 0, 2, last } };
}

TEST(an_answer_is_what_others_read) {
        IpAddress addresses[] = { v4(1), v4(2) };
        uint8_t answer[DNS_UDP_SIZE_MIN];
        Bytes b = plain();
        DnsQuestion q;
        ns_msg message;
        ns_rr rr;
        size_t size;

        check_result("parse", parse(&b, &q), 0);
        size = dns_answer_write(&q, &(DnsAnswer) { .addresses = addresses, .n_addresses = 2, .ttl = 77 }, answer, sizeof(answer));
        check_int("readable", ns_initparse(answer, (int) size, &message), 0);
        check_uint("id", ns_msg_id(message), 0x1234);
        check_int("rcode", ns_msg_getflag(message, ns_f_rcode), 0);
        check_int("rd", ns_msg_getflag(message, ns_f_rd), 1);
        check_int("ra", ns_msg_getflag(message, ns_f_ra), 1);
        check_int("tc", ns_msg_getflag(message, ns_f_tc), 0);
        check_uint("answers", ns_msg_count(message, ns_s_an), 2);
        check_uint("no edns where none was asked", ns_msg_count(message, ns_s_ar), 0);
        for (int i = 0; i < 2; i++) {
                check_int("rr", ns_parserr(&message, ns_s_an, i, &rr), 0);
                check_string("name", ns_rr_name(rr), "ExAmple.org");
                check_uint("type", ns_rr_type(rr), ns_t_a);
                check_uint("ttl", ns_rr_ttl(rr), 77);
                check_uint("length", ns_rr_rdlen(rr), 4);
                check_uint("address", ns_rr_rdata(rr)[3], (unsigned) i + 1);
        }
}

TEST(ipv6_answers_have_all_their_bytes) {
        IpAddress address = { .bytes = { 0x20, 1, 0xd, 0xb8, [15] = 9 } };
        uint8_t answer[DNS_UDP_SIZE_MIN];
        Bytes b = plain();
        DnsQuestion q;
        ns_msg message;
        ns_rr rr;
        size_t size;

        b.data[b.size - 3] = DNS_TYPE_AAAA;
        check_result("parse", parse(&b, &q), 0);
        size = dns_answer_write(&q, &(DnsAnswer) { .addresses = &address, .n_addresses = 1, .ttl = 1 }, answer, sizeof(answer));
        check_int("readable", ns_initparse(answer, (int) size, &message), 0);
        check_int("rr", ns_parserr(&message, ns_s_an, 0, &rr), 0);
        check_uint("type", ns_rr_type(rr), ns_t_aaaa);
        check_true("address", ns_rr_rdlen(rr) == 16 && memcmp(ns_rr_rdata(rr), address.bytes, 16) == 0);
}

static void check_extended(const uint8_t *answer, size_t size, unsigned code, const char *text) {
        ns_msg message;
        ns_rr rr;

        check_int("readable", ns_initparse(answer, (int) size, &message), 0);
        check_uint("opt", ns_msg_count(message, ns_s_ar), 1);
        check_int("rr", ns_parserr(&message, ns_s_ar, 0, &rr), 0);
        check_uint("type", ns_rr_type(rr), ns_t_opt);
        check_uint("option", ns_get16(ns_rr_rdata(rr)), 15);
        check_uint("its length", ns_get16(ns_rr_rdata(rr) + 2), ns_rr_rdlen(rr) - 4u);
        check_uint("code", ns_get16(ns_rr_rdata(rr) + 4), code);
        check_true("text", strncmp(text, (const char *) ns_rr_rdata(rr) + 6, ns_rr_rdlen(rr) - 6u) == 0);
}

static Bytes with_edns(uint16_t udp_size) {
        uint8_t bytes[] = { (uint8_t) (udp_size >> 8), (uint8_t) udp_size };
        Bytes b = header(1);

        PUT(&b, "\1a\0\0\1\0\1\0\0\x29");
        put(&b, bytes, 2);
        PUT(&b, "\0\0\0\0\0\0");
        return b;
}

TEST(a_denial_has_words) {
        Bytes b = with_edns(1232);
        uint8_t answer[DNS_UDP_SIZE_MAX];
        DnsQuestion q;
        size_t size;

        check_result("parse", parse(&b, &q), 0);
        size = dns_answer_write(&q, &(DnsAnswer) { .rcode = DNS_REFUSED, .extended = DNS_BLOCKED, .text = "a is denied" }, answer, q.udp_size);
        check_uint("rcode", answer[3] & 0xf, DNS_REFUSED);
        check_extended(answer, size, 15, "a is denied");
        check_uint("all of it", size, 12 + 7 + 11 + 6 + 11);

        size = dns_answer_write(&q, &(DnsAnswer) { .rcode = DNS_BADVERS }, answer, q.udp_size);
        check_uint("lower half", answer[3] & 0xf, 0);
        check_uint("upper half", answer[size - 6], 1);
}

TEST(words_are_cut_between_characters) {
        Bytes b = with_edns(512);
        uint8_t answer[DNS_UDP_SIZE_MAX];
        char text[1024];
        DnsQuestion q;
        size_t size;

        for (size_t i = 0; i + 2 < sizeof(text); i += 2)
                memcpy(text + i, "ä", 2);
        text[sizeof(text) - 2] = '\0';
        check_result("parse", parse(&b, &q), 0);
        size = dns_answer_write(&q, &(DnsAnswer) { .rcode = DNS_REFUSED, .extended = DNS_BLOCKED, .text = text }, answer, q.udp_size);
        check_true("fits", size <= 512 && size >= 511);
        check_uint("whole characters", (size - 12 - 7 - 11 - 6) % 2, 0);
        check_extended(answer, size, 15, text);
}

TEST(what_does_not_fit_is_truncated) {
        IpAddress addresses[64];
        uint8_t answer[DNS_ANSWER_MAX];
        Bytes b = plain();
        DnsQuestion q;
        DnsAnswer a = { .addresses = addresses, .n_addresses = 64, .ttl = 5 };
        size_t size;

        for (uint8_t i = 0; i < 64; i++)
                addresses[i] = v4(i);
        check_result("parse", parse(&b, &q), 0);
        size = dns_answer_write(&q, &a, answer, q.udp_size);
        check_true("tc", answer[2] & 2);
        check_uint("no answers", answer[7], 0);
        check_uint("just the question", size, b.size);
        size = dns_answer_write(&q, &a, answer, sizeof(answer));
        check_true("no tc", !(answer[2] & 2));
        check_uint("all answers", answer[7], 64);
        check_uint("size", size, b.size + 64 * 16u);
}
