/* schema-network.c: what of the machine's surroundings sandboxes may reach, and by whom names are looked up. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"
#include "policy/egress.h"

#define DNS_PORT 53

/* Reads each text by `read`, which gives it its normal form or complains. */
typedef void (*ReadWord)(Reader *r, const Field *f, const YamlNode *v, const char *where, Strv *list);

static void schema_network_read_words(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target, ReadWord read) {
        Strv *list = field_at(f, target);

        if (v->kind == YAML_MAP || v->kind == YAML_EMPTY) {
                (void) read_text(r, f, v, where);
                return;
        }
        strv_done(list);
        if (v->kind == YAML_TEXT)
                read(r, f, v, where, list);
        for (const YamlNode *item = v->items; item; item = item->next)
                if (item->kind != YAML_TEXT)
                        reader_complain(r, item->place, "'%s' in %s: each entry must be a text", f->name, where);
                else
                        read(r, f, item, where, list);
}

static void schema_network_push(Reader *r, const Field *f, const YamlNode *v, const char *where, Strv *list, const char *text) {
        int k = strv_push(list, text);

        if (k == -E2BIG)
                reader_complain(r, v->place, "'%s' in %s may have %zu entries", f->name, where, list->max);
        else if (k < 0)
                reader_fail(r, k);
}

static void schema_network_read_range(Reader *r, const Field *f, const YamlNode *v, const char *where, Strv *list) {
        EgressRange range;
        int k = egress_range_parse(v->text, &range);

        if (k == -EDOM)
                reader_complain(r, v->place, "'%s' in %s: '%.64s' has bits below its mask: write the first address of the range", f->name, where,
                                v->text);
        else if (k < 0)
                reader_complain(r, v->place, "'%s' in %s: '%.64s' is no address and no range, as in 10.1.0.0/16", f->name, where, v->text);
        else
                schema_network_push(r, f, v, where, list, v->text);
}

static void parse_ranges(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        schema_network_read_words(r, f, v, where, target, schema_network_read_range);
}

/* ADDRESS, ADDRESS:PORT, [V6]:PORT, V6; the port is always there afterwards. */
static bool read_server(const char *text, char ret[static 64]) {
        const char *colon = strrchr(text, ':');
        size_t n = strlen(text);
        char address[46], canonical[46];
        unsigned port = DNS_PORT;
        EgressAddress a;
        int used = 0;

        if (text[0] == '[') {
                const char *close = strchr(text, ']');

                if (!close || (close[1] && close[1] != ':'))
                        return false;
                colon = close[1] ? close + 1 : NULL;
                n = (size_t) (close - ++text);
        } else if (colon && strchr(text, ':') == colon)
                n = (size_t) (colon - text);
        else
                colon = NULL;
        if (colon && (sscanf(colon, ":%5u%n", &port, &used) != 1 || colon[used] || port < 1 || port > 65535))
                return false;
        if (n >= sizeof(address))
                return false;
        memcpy(address, text, n);
        address[n] = '\0';
        if (egress_address_parse(address, &a) < 0)
                return false;
        egress_address_format(&a, canonical);
        (void) snprintf(ret, 64, strchr(canonical, ':') ? "[%s]:%u" : "%s:%u", canonical, port);
        return true;
}

static void read_address(Reader *r, const Field *f, const YamlNode *v, const char *where, Strv *list) {
        char server[64];

        if (read_server(v->text, server))
                schema_network_push(r, f, v, where, list, server);
        else
                reader_complain(r, v->place, "'%s' in %s: '%.64s' is no address of a server, as in 203.0.113.53 or 203.0.113.53:5353", f->name,
                                where, v->text);
}

static void parse_servers(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        schema_network_read_words(r, f, v, where, target, read_address);
}

static json_t *show_words(const Field *f, const void *target) {
        const Strv *list = field_at(f, target);
        json_t *array = json_array();

        for (size_t i = 0; i < list->n; i++)
                (void) json_array_append_new(array, json_text_or_null(list->items[i]));
        return array;
}

static const FieldType type_ranges = { "a list of addresses and ranges", parse_ranges, show_words, NULL };
static const FieldType type_servers = { "a list of addresses", parse_servers, show_words, NULL };

const Field network_fields[] = {
        { "reachable", &type_ranges, offsetof(NetworkConfig, reachable_words),
          "private and other special ranges that policies may open; this machine itself, too, where it is listed", .max = NETWORK_REACHABLE_MAX },
        { "dns", &type_servers, offsetof(NetworkConfig, dns), "who looks names up for sandboxes; none: those of /etc/resolv.conf",
          .max = NETWORK_DNS_MAX },
        { "allowOpen", &type_bool, offsetof(NetworkConfig, allow_open), "sandboxes may have the mode \"open\", which lets everything out" },
        { "caFile", &type_path, offsetof(NetworkConfig, ca_file),
          "authorities (PEM) that count beside the host's where TLS of a sandbox is opened", .example = "/etc/cove/authorities.pem" },
        { "denialsKept", &type_uint, offsetof(NetworkConfig, denials_kept), "of one sandbox, for looking at; the oldest go", .max = 100000 },
        { 0 },
};

void network_finish(Reader *r, Config *c) {
        NetworkConfig *n = &c->network;

        n->reachable = calloc(n->reachable_words.n + 1, sizeof(*n->reachable));
        if (!n->reachable) {
                reader_fail(r, -ENOMEM);
                return;
        }
        for (size_t i = 0; i < n->reachable_words.n; i++)
                if (egress_range_parse(n->reachable_words.items[i], n->reachable + n->n_reachable) >= 0)
                        n->n_reachable++;
}
