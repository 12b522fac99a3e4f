/* schema-network.c: what sandboxes may reach in the network of the machine, and the name servers. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/origin.h"
#include "base/proxy.h"
#include "base/registries.h"
#include "base/text.h"
#include "config/schema.h"
#include "policy/egress.h"

#define DNS_PORT         53
#define PACKAGES_BUILTIN "builtin"
#define PACKAGES_HOST    "host"
#define PROXY_HOST       "host"
#define PROXY_NONE       "none"
#define PROXY_EXCEPT_MAX 8192 /* the gate takes no more */

static void network_range_entry(const YamlValue *v, Strv *list) {
        IpRange range;
        int k = ip_range_parse(v->node->text, &range);

        if (k == -EDOM)
                yaml_complain(v, ": '%.64s' has bits below its mask: write the first address of the range", v->node->text);
        else if (k < 0)
                yaml_complain(v, ": '%.64s' is no address and no range, as in 10.1.0.0/16", v->node->text);
        else
                yaml_push(v, list, v->node->text, "may have");
}

static void network_read_ranges(const YamlValue *v) {
        yaml_read_entries(v, network_range_entry);
}

static void network_origin_entry(const YamlValue *v, Strv *list) {
        if (!origin_pattern_is_valid(v->node->text))
                yaml_complain(v, ": '%.100s' is no origin: write SCHEME://HOST[:PORT], as in https://app.example.org, without a path", v->node->text);
        else
                yaml_push(v, list, v->node->text, "may have");
}

static void network_read_origins(const YamlValue *v) {
        yaml_read_entries(v, network_origin_entry);
}

/* Accepts ADDRESS, ADDRESS:PORT, [V6]:PORT and V6, and always returns a port. */
static bool read_server(const char *text, char ret[static 64]) {
        const char *colon = strrchr(text, ':');
        size_t n = strlen(text);
        char address[46], canonical[46];
        unsigned port = DNS_PORT;
        IpAddress a;
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
        if (ip_parse(address, &a) < 0)
                return false;
        ip_format(&a, canonical);
        (void) snprintf(ret, 64, strchr(canonical, ':') ? "[%s]:%u" : "%s:%u", canonical, port);
        return true;
}

static void network_server_entry(const YamlValue *v, Strv *list) {
        char server[64];

        if (read_server(v->node->text, server))
                yaml_push(v, list, server, "may have");
        else
                yaml_complain(v, ": '%.64s' is no address of a server, as in 203.0.113.53 or 203.0.113.53:5353", v->node->text);
}

static void network_read_servers(const YamlValue *v) {
        yaml_read_entries(v, network_server_entry);
}

/* One of the words, or a single rule; the built-in default has both words in one text. */
static void network_package(const YamlValue *v, const char *text, Strv *list) {
        _cleanup_(egress_rule_done) EgressRule rule = { 0 };
        Error error = { 0 };

        if (strcmp(text, PACKAGES_BUILTIN) != 0 && strcmp(text, PACKAGES_HOST) != 0 && egress_packages_rule(text, EGRESS_ALLOW, &rule, &error) < 0)
                yaml_complain(v, ": %s", error.text);
        else
                yaml_push(v, list, text, "may have");
}

static void network_packages_entry(const YamlValue *v, Strv *list) {
        for (const char *text = v->node->text + strspn(v->node->text, ", "); *text; ) {
                _cleanup_free_ char *word = strndup(text, strcspn(text, ", "));

                if (!word) {
                        reader_fail(v->reader, -ENOMEM);
                        return;
                }
                network_package(v, word, list);
                text += strlen(word);
                text += strspn(text, ", ");
        }
}

static void network_read_packages(const YamlValue *v) {
        yaml_read_entries(v, network_packages_entry);
}

static bool network_proxy_is_word(const char *text) {
        return strcmp(text, PROXY_HOST) == 0 || strcmp(text, PROXY_NONE) == 0;
}

static void network_proxy_name(const YamlValue *v, Strv *list) {
        if (!v->node->text[0] || v->node->text[strcspn(v->node->text, ", \t")])
                yaml_complain(v, ": '%.100s' is no name and no range of addresses", v->node->text);
        else
                yaml_push(v, list, v->node->text, "may have");
}

static void network_read_proxy_names(const YamlValue *v) {
        yaml_read_entries(v, network_proxy_name);
}

static const ShapeYaml ranges_yaml = { .words = "a list of addresses and ranges", .parse = network_read_ranges };
const ShapeYaml origins_yaml = { .words = "a list of origins", .parse = network_read_origins };
static const ShapeYaml servers_yaml = { .words = "a list of addresses", .parse = network_read_servers };

static json_t *network_show_proxy(const ShapeField *f, const void *object) {
        const char *text = *(char **) shape_at(f, object);
        char shown[PROXY_SHOWN_MAX];

        if (!text || network_proxy_is_word(text))
                return text ? json_string(text) : NULL;
        proxy_shown(text, shown);
        return json_text_or_null(shown);
}

static const ShapeYaml proxy_yaml = { .words = "the word host or none, or a URL: itself, file:/PATH or env:NAME", .show = network_show_proxy };
static const ShapeYaml names_yaml = { .words = "a list of names", .parse = network_read_proxy_names };
static const ShapeYaml packages_yaml = { .words = "a list of rules", .parse = network_read_packages };

static const Shape range_config_shape = { .size = sizeof(IpRange) };

static const ShapeField network_config_fields[] = {
        { "reachable", KEY_STRINGS(NetworkConfig, reachable_words), .max = NETWORK_REACHABLE_MAX, .yaml = &ranges_yaml,
          .help = "private and other special ranges that policies may open; the addresses of this machine only if listed" },
        { "packages", KEY_STRINGS(NetworkConfig, packages), .max = NETWORK_PACKAGES_MAX, .initial = PACKAGES_BUILTIN "," PACKAGES_HOST, .yaml = &packages_yaml,
          .help = "what the rule \"packages\" of a policy stands for: builtin (cove's list of registries), host (those of the host's own apt, pip and npm), and rules; http:// permits GET and HEAD only" },
        { "proxy", KEY_SECRET(NetworkConfig, proxy), .initial = PROXY_HOST, .yaml = &proxy_yaml,
          .help = "HTTP proxy to reach package registries through: host (that of the environment, or of the host's own pip, npm and apt), none, or http://[USER:PASSWORD@]HOST[:PORT]" },
        { "noProxy", KEY_STRINGS(NetworkConfig, no_proxy), .max = NETWORK_NO_PROXY_MAX, .yaml = &names_yaml,
          .help = "names, and all names below them, to reach without the proxy, in addition to no_proxy of the environment" },
        { "dns", KEY_STRINGS(NetworkConfig, dns), .max = NETWORK_DNS_MAX, .yaml = &servers_yaml,
          .help = "DNS servers for sandboxes; none: those of /etc/resolv.conf" },
        { "allowOpen", KEY_BOOL(NetworkConfig, allow_open), .help = "permit the network mode \"open\", which allows every public destination" },
        { "caFile", KEY_PATH(NetworkConfig, ca_file), .example = "/etc/cove/authorities.pem",
          .help = "authorities (PEM) to trust in addition to the host's where TLS of a sandbox is opened" },
        { "denialsKept", KEY_COUNT(NetworkConfig, denials_kept), .max = 100000, .initial = "500",
          .help = "denials kept for each sandbox; beyond it the oldest are removed" },
        { "gateMemory", KEY_SIZE(NetworkConfig, gate_bytes),
          .help = "memory of the gate for all sandboxes; one sandbox gets no more than is left for the others; at least 16MB; 0: an eighth of the machine's memory" },
        { NULL, SHAPE_STRV, offsetof(NetworkConfig, packages_rules), .max = EGRESS_PACKAGES_MAX },
        { NULL, SHAPE_LIST, offsetof(NetworkConfig, reachable), .count = offsetof(NetworkConfig, n_reachable), .shape = &range_config_shape },
};
const Shape network_config_shape = SHAPE_OF(network_config, NetworkConfig);

static int network_add_package(Strv *list, const char *rule) {
        int r;

        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->items[i], rule) == 0)
                        return 0;
        r = strv_push(list, rule);
        return r == -E2BIG ? 0 : r; /* the list has room for all built-in rules, all of the host's, and all of the file */
}

static int network_add_packages(Strv *list, const char *const *rules) {
        int r = 0;

        for (; *rules && r >= 0; rules++)
                r = network_add_package(list, *rules);
        return r;
}

static int network_add_host_packages(Strv *list) {
        _cleanup_(registries_done) Registries found = REGISTRIES_INIT;
        _cleanup_close_ int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = root < 0 ? -errno : registries_read(root, /* environment= */ NULL, &found);

        return r < 0 || found.hosts.n == 0 ? r : network_add_packages(list, (const char *const *) found.hosts.items);
}

int network_expand_packages(NetworkConfig *n) {
        Strv *list = &n->packages_rules;
        int r = 0;

        strv_done(list);
        for (size_t i = 0; i < n->packages.n && r >= 0; i++) {
                const char *word = n->packages.items[i];

                if (strcmp(word, PACKAGES_BUILTIN) == 0)
                        r = network_add_packages(list, egress_packages_builtin);
                else
                        r = strcmp(word, PACKAGES_HOST) == 0 ? network_add_host_packages(list) : network_add_package(list, word);
        }
        return r;
}

static int proxy_keep_usable(char **url, char **ret_unusable) {
        ProxyServer server = { 0 };
        int r = *url ? proxy_parse(*url, &server) : 0;

        proxy_done(&server);
        if (r >= 0 || r == -ENOMEM)
                return r;
        if (ret_unusable && !*ret_unusable)
                *ret_unusable = *url;
        else
                (void) proxy_url_free(*url);
        *url = NULL;
        return 0;
}

static int proxy_add_exceptions(const Strv *names, char **list) {
        Text t = TEXT_INIT(PROXY_EXCEPT_MAX);
        int r;

        text_put_string(&t, *list ? *list : "");
        for (size_t i = 0; i < names->n; i++)
                text_format(&t, ",%s", names->items[i]);
        text_put(&t, "", 1);
        r = t.error < 0 ? t.error : string_copy(list, (const char *) t.data);
        text_done(&t);
        return r;
}

int network_find_proxy(const NetworkConfig *n, Registries *ret, char **ret_unusable) {
        _cleanup_close_ int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        bool host = strcmp(n->proxy, PROXY_HOST) == 0;
        int r = 0;

        if (strcmp(n->proxy, PROXY_NONE) == 0)
                return 0;
        if (host && root >= 0)
                r = registries_read(root, environ, ret);
        if (!host)
                r = string_copy(&ret->http_proxy, n->proxy);
        if (!host && r >= 0)
                r = string_copy(&ret->https_proxy, n->proxy);
        if (r >= 0)
                r = proxy_keep_usable(&ret->http_proxy, ret_unusable);
        if (r >= 0)
                r = proxy_keep_usable(&ret->https_proxy, ret_unusable);
        return r < 0 ? r : proxy_add_exceptions(&n->no_proxy, &ret->no_proxy);
}

const char *network_proxy_failure(int r) {
        return r == -ENOMEM ? "out of memory" : "no_proxy of the environment and network.noProxy have more than 8192 bytes together";
}

/* The complaint does not quote the URL, which may have a password. */
void network_check_proxy(Reader *r, const Config *c, const YamlNode *root) {
        const char *text = c->network.proxy;
        ProxyServer server = { 0 };

        if (text && !network_proxy_is_word(text) && proxy_parse(text, &server) < 0)
                reader_complain(r, yaml_key_place(yaml_tree_get(root, "network"), "proxy"),
                                "'proxy' in section network must be host, none, or http://[USER:PASSWORD@]HOST[:PORT]");
        proxy_done(&server);
}

void network_finish(Reader *r, Config *c) {
        NetworkConfig *n = &c->network;
        int k = network_expand_packages(n);

        if (k < 0)
                reader_fail(r, k);

        n->reachable = calloc(n->reachable_words.n + 1, sizeof(*n->reachable));
        if (!n->reachable) {
                reader_fail(r, -ENOMEM);
                return;
        }
        for (size_t i = 0; i < n->reachable_words.n; i++)
                if (ip_range_parse(n->reachable_words.items[i], n->reachable + n->n_reachable) >= 0)
                        n->n_reachable++;
}
