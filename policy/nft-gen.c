/* nft-gen.c: compiles gated.nft into the bytes of one nfnetlink batch, at build time.
 *
 *      nft-gen RULES HEADER
 *
 * The one door to libnftnl, which knows how rules look to the kernel: all namespaces get the same rules, so a program that
 * makes one sends the finished bytes, and needs neither the library nor its work. The language is nft(8)'s, as much of it as
 * the table below has: a line of conditions with a verdict at its end becomes one rule. Anything else ends the build, with
 * file and line.
 * Must not know: what the rules are for. That is the file's.
 *
 *      a batch     begin · table · chain · rule … · end; each of those between is acknowledged by the kernel
 */

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/table.h>
#include <linux/icmpv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <netinet/ip_icmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"

#define BATCH_MAX      16384
#define TOKENS_MAX     16
#define LINE_MAX_BYTES 512
#define FIRST_SEQUENCE 1 /* of the first message that is acknowledged */

typedef struct Line {
        const char *tokens[TOKENS_MAX + 1]; /* NULL at the end */
        size_t at;
} Line;

static const char *file_name;
static unsigned line_number;

static struct mnl_nlmsg_batch *batch;
static uint32_t sequence = FIRST_SEQUENCE;
static char table_name[64], chain_name[64];

static _noreturn_ void die(const char *format, ...) _printf_(1, 2);
static _noreturn_ void die(const char *format, ...) {
        va_list ap;

        fprintf(stderr, "%s:%u: ", file_name, line_number);
        va_start(ap, format);
        vfprintf(stderr, format, ap);
        va_end(ap);
        fputc('\n', stderr);
        exit(EXIT_FAILURE);
}

static void *checked(void *p) {
        if (!p)
                die("out of memory");
        return p;
}

static const char *next(Line *l) {
        const char *token = l->tokens[l->at];

        if (!token)
                die("the line ends too early");
        l->at++;
        return token;
}

static void expect(Line *l, const char *word) {
        const char *token = next(l);

        if (strcmp(token, word) != 0)
                die("'%s' where '%s' should be", token, word);
}

static unsigned long number(const char *text, unsigned long max) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);

        if (*text < '0' || *text > '9' || *end || value > max)
                die("'%s' is no number up to %lu", text, max);
        return value;
}

/* Expressions: each works on register 1, which the next one may overwrite. */

static struct nftnl_expr *add(struct nftnl_rule *rule, const char *kind) {
        struct nftnl_expr *e = checked(nftnl_expr_alloc(kind));

        nftnl_rule_add_expr(rule, e);
        return e;
}

static void add_meta(struct nftnl_rule *rule, uint32_t key) {
        struct nftnl_expr *e = add(rule, "meta");

        nftnl_expr_set_u32(e, NFTNL_EXPR_META_KEY, key);
        nftnl_expr_set_u32(e, NFTNL_EXPR_META_DREG, NFT_REG_1);
}

static void add_payload(struct nftnl_rule *rule, uint32_t base, uint32_t offset, uint32_t size) {
        struct nftnl_expr *e = add(rule, "payload");

        nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_BASE, base);
        nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
        nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_LEN, size);
        nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG_1);
}

static void add_compare(struct nftnl_rule *rule, uint32_t operation, const void *data, uint32_t size) {
        struct nftnl_expr *e = add(rule, "cmp");

        nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
        nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_OP, operation);
        nftnl_expr_set(e, NFTNL_EXPR_CMP_DATA, data, size);
}

static void add_is_byte(struct nftnl_rule *rule, uint32_t key, uint8_t value) {
        add_meta(rule, key);
        add_compare(rule, NFT_CMP_EQ, &value, sizeof(value));
}

/* Conditions */

/* "ip daddr 127.0.0.0/8": whole bytes of a prefix are compared, so its length is a multiple of eight. */
static void destination(struct nftnl_rule *rule, Line *l, int family, uint8_t protocol, uint32_t offset, size_t size) {
        uint8_t address[16];
        char text[INET6_ADDRSTRLEN];
        size_t bits = size * 8;
        char *slash;

        expect(l, "daddr");
        (void) snprintf(text, sizeof(text), "%s", next(l));
        slash = strchr(text, '/');
        if (slash) {
                *slash = '\0';
                bits = number(slash + 1, size * 8);
        }
        if (bits == 0 || bits % 8 != 0)
                die("a prefix of %zu bits; only whole bytes can be compared", bits);
        if (inet_pton(family, text, address) != 1)
                die("'%s' is no address", text);
        add_is_byte(rule, NFT_META_NFPROTO, protocol);
        add_payload(rule, NFT_PAYLOAD_NETWORK_HEADER, offset, (uint32_t) bits / 8);
        add_compare(rule, NFT_CMP_EQ, address, (uint32_t) bits / 8);
}

static void match_ip(struct nftnl_rule *rule, Line *l) {
        destination(rule, l, AF_INET, NFPROTO_IPV4, 16, 4);
}

static void match_ip6(struct nftnl_rule *rule, Line *l) {
        destination(rule, l, AF_INET6, NFPROTO_IPV6, 24, 16);
}

static void echo_request(struct nftnl_rule *rule, Line *l, uint8_t family, uint8_t protocol, uint8_t type) {
        expect(l, "type");
        expect(l, "echo-request");
        add_is_byte(rule, NFT_META_NFPROTO, family);
        add_is_byte(rule, NFT_META_L4PROTO, protocol);
        add_payload(rule, NFT_PAYLOAD_TRANSPORT_HEADER, 0, 1);
        add_compare(rule, NFT_CMP_EQ, &type, sizeof(type));
}

static void match_icmp(struct nftnl_rule *rule, Line *l) {
        echo_request(rule, l, NFPROTO_IPV4, IPPROTO_ICMP, ICMP_ECHO);
}

static void match_icmp6(struct nftnl_rule *rule, Line *l) {
        echo_request(rule, l, NFPROTO_IPV6, IPPROTO_ICMPV6, ICMPV6_ECHO_REQUEST);
}

static uint8_t protocol_named(const char *name) {
        if (strcmp(name, "tcp") == 0)
                return IPPROTO_TCP;
        if (strcmp(name, "udp") == 0)
                return IPPROTO_UDP;
        die("'%s' is neither tcp nor udp", name);
}

static void match_meta(struct nftnl_rule *rule, Line *l) {
        expect(l, "l4proto");
        add_is_byte(rule, NFT_META_L4PROTO, protocol_named(next(l)));
}

static void match_port(struct nftnl_rule *rule, Line *l) {
        uint8_t protocol = protocol_named(l->tokens[l->at - 1]);
        uint32_t operation = NFT_CMP_EQ;
        const char *token;
        uint16_t port;

        expect(l, "dport");
        token = next(l);
        if (strcmp(token, "!=") == 0) {
                operation = NFT_CMP_NEQ;
                token = next(l);
        }
        port = htons((uint16_t) number(token, UINT16_MAX));
        add_is_byte(rule, NFT_META_L4PROTO, protocol);
        add_payload(rule, NFT_PAYLOAD_TRANSPORT_HEADER, 2, sizeof(port));
        add_compare(rule, operation, &port, sizeof(port));
}

/* Actions */

static void act_tproxy(struct nftnl_rule *rule, Line *l) {
        struct nftnl_expr *e = add(rule, "immediate");
        const char *token;
        uint16_t port;

        expect(l, "to");
        token = next(l);
        if (*token != ':')
                die("'%s' is not :PORT", token);
        port = htons((uint16_t) number(token + 1, UINT16_MAX));
        nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
        nftnl_expr_set(e, NFTNL_EXPR_IMM_DATA, &port, sizeof(port));
        e = add(rule, "tproxy");
        nftnl_expr_set_u32(e, NFTNL_EXPR_TPROXY_FAMILY, NFPROTO_UNSPEC);
        nftnl_expr_set_u32(e, NFTNL_EXPR_TPROXY_REG_PORT, NFT_REG_1);
}

static void verdict(struct nftnl_rule *rule, const Line *l, uint32_t code) {
        struct nftnl_expr *e = add(rule, "immediate");

        if (l->tokens[l->at])
                die("'%s' comes after the verdict", l->tokens[l->at]);
        nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
        nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_VERDICT, code);
}

static void act_accept(struct nftnl_rule *rule, Line *l) {
        verdict(rule, l, NF_ACCEPT);
}

static void act_drop(struct nftnl_rule *rule, Line *l) {
        verdict(rule, l, NF_DROP);
}

static const struct {
        const char *word;
        void (*function)(struct nftnl_rule *rule, Line *l);
} words[] = {
        { "accept", act_accept },
        { "drop",   act_drop   },
        { "icmp",   match_icmp },
        { "icmpv6", match_icmp6 },
        { "ip",     match_ip   },
        { "ip6",    match_ip6  },
        { "meta",   match_meta },
        { "tcp",    match_port },
        { "tproxy", act_tproxy },
        { "udp",    match_port },
};

/* Messages */

static struct nlmsghdr *begin(uint16_t type, uint16_t flags) {
        return nftnl_nlmsg_build_hdr(mnl_nlmsg_batch_current(batch), type, NFPROTO_INET, flags | NLM_F_ACK, sequence++);
}

static void end_message(void) {
        if (!mnl_nlmsg_batch_next(batch))
                die("more than %d bytes of rules", BATCH_MAX);
}

static void put_table(Line *l) {
        struct nftnl_table *t = checked(nftnl_table_alloc());

        expect(l, "inet");
        (void) snprintf(table_name, sizeof(table_name), "%s", next(l));
        expect(l, "{");
        nftnl_table_set_u32(t, NFTNL_TABLE_FAMILY, NFPROTO_INET);
        nftnl_table_set_str(t, NFTNL_TABLE_NAME, table_name);
        nftnl_table_nlmsg_build_payload(begin(NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL), t);
        end_message();
        nftnl_table_free(t);
}

static void open_chain(Line *l) {
        (void) snprintf(chain_name, sizeof(chain_name), "%s", next(l));
        expect(l, "{");
}

/* type filter hook prerouting priority mangle; policy accept; */
static void put_chain(Line *l) {
        static const char *const wanted[] = { "filter", "hook", "prerouting", "priority", "mangle;", "policy", "accept;" };
        struct nftnl_chain *c = checked(nftnl_chain_alloc());

        for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                expect(l, wanted[i]);
        nftnl_chain_set_u32(c, NFTNL_CHAIN_FAMILY, NFPROTO_INET);
        nftnl_chain_set_str(c, NFTNL_CHAIN_TABLE, table_name);
        nftnl_chain_set_str(c, NFTNL_CHAIN_NAME, chain_name);
        nftnl_chain_set_str(c, NFTNL_CHAIN_TYPE, "filter");
        nftnl_chain_set_u32(c, NFTNL_CHAIN_HOOKNUM, NF_INET_PRE_ROUTING);
        nftnl_chain_set_s32(c, NFTNL_CHAIN_PRIO, -150);
        nftnl_chain_set_u32(c, NFTNL_CHAIN_POLICY, NF_ACCEPT);
        nftnl_chain_nlmsg_build_payload(begin(NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_EXCL), c);
        end_message();
        nftnl_chain_free(c);
}

static void add_word(struct nftnl_rule *rule, Line *l) {
        const char *token = next(l);

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcmp(words[i].word, token) == 0) {
                        words[i].function(rule, l);
                        return;
                }
        die("'%s' is not known here", token);
}

static void put_rule(Line *l) {
        struct nftnl_rule *rule = checked(nftnl_rule_alloc());
        const char *last = "";

        if (!chain_name[0])
                die("a rule outside of a chain");
        nftnl_rule_set_u32(rule, NFTNL_RULE_FAMILY, NFPROTO_INET);
        nftnl_rule_set_str(rule, NFTNL_RULE_TABLE, table_name);
        nftnl_rule_set_str(rule, NFTNL_RULE_CHAIN, chain_name);
        while (l->tokens[l->at]) {
                last = l->tokens[l->at];
                add_word(rule, l);
        }
        if (strcmp(last, "accept") != 0 && strcmp(last, "drop") != 0)
                die("a rule without a verdict");
        nftnl_rule_nlmsg_build_payload(begin(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND), rule);
        end_message();
        nftnl_rule_free(rule);
}

static void compile_line(Line *l) {
        const char *first = l->tokens[0];

        if (!first || strcmp(first, "}") == 0)
                return;
        l->at = 1;
        if (strcmp(first, "table") == 0)
                put_table(l);
        else if (strcmp(first, "chain") == 0)
                open_chain(l);
        else if (strcmp(first, "type") == 0)
                put_chain(l);
        else {
                l->at = 0;
                put_rule(l);
        }
        if (l->tokens[l->at])
                die("'%s' is too much", l->tokens[l->at]);
}

static void compile(FILE *file) {
        char text[LINE_MAX_BYTES];

        while (fgets(text, sizeof(text), file)) {
                char *comment = strchr(text, '#'), *save = NULL;
                Line l = { 0 };
                size_t n = 0;

                line_number++;
                if (comment)
                        *comment = '\0';
                for (char *token = strtok_r(text, " \t\n", &save); token; token = strtok_r(NULL, " \t\n", &save)) {
                        if (n >= TOKENS_MAX)
                                die("more than %d words", TOKENS_MAX);
                        l.tokens[n++] = token;
                }
                compile_line(&l);
        }
        if (!chain_name[0])
                die("there is no chain");
}

static void print(FILE *out) {
        const uint8_t *bytes = mnl_nlmsg_batch_head(batch);
        size_t size = mnl_nlmsg_batch_size(batch);

        fprintf(out, "/* Made by nft-gen from %s. */\n#pragma once\n\n", strrchr(file_name, '/') ? strrchr(file_name, '/') + 1 : file_name);
        fprintf(out, "#define NFT_GATED_ACKS %u\n\n", (unsigned) (sequence - FIRST_SEQUENCE));
        fprintf(out, "static const _Alignas(4) unsigned char nft_gated_batch[%zu] = {", size);
        for (size_t i = 0; i < size; i++)
                fprintf(out, "%s0x%02x,", i % 16 ? " " : "\n        ", bytes[i]);
        fprintf(out, "\n};\n");
}

int main(int argc, char **argv) {
        static _Alignas(8) char buffer[2 * BATCH_MAX]; /* libmnl wants room for the message that is one too many */
        FILE *in, *out;

        if (argc != 3) {
                fprintf(stderr, "usage: nft-gen RULES HEADER\n");
                return EXIT_FAILURE;
        }
        file_name = argv[1];
        in = fopen(argv[1], "re");
        out = fopen(argv[2], "we");
        if (!in || !out)
                die("%s", strerror(errno));
        batch = checked(mnl_nlmsg_batch_start(buffer, BATCH_MAX));
        nftnl_batch_begin(mnl_nlmsg_batch_current(batch), 0);
        end_message();
        compile(in);
        nftnl_batch_end(mnl_nlmsg_batch_current(batch), sequence);
        end_message();
        print(out);
        mnl_nlmsg_batch_stop(batch);
        (void) fclose(in);
        return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
