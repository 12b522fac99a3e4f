/* schema-alerts.c: channels, routes and rules. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/schema.h"

#define PAGERDUTY_URL "https://events.pagerduty.com/v2/enqueue"
#define RECEIVERS_MAX 100
#define CHANNELS_MAX  64

static const char *const severity_words[_SEVERITY_MAX] = { "info", "warning", "critical" };
static const char *const channel_words[_CHANNEL_MAX] = { "log", "slack", "webhook", "pagerduty", "email" };
static const char *const preset_words[_ALERT_PRESET_MAX] = { "machine", "monotask" };
static const ShapeNames alert_preset_names = SHAPE_WORDS(preset_words);
const ShapeNames alert_severity_names = SHAPE_WORDS(severity_words), channel_kind_names = SHAPE_WORDS(channel_words);

static const ShapeField channel_config_fields[] = {
        { NULL, SHAPE_CHARS, SHAPE_AT(ChannelConfig, name), .flags = SHAPE_KEY },
        { "kind", KEY_ENUM(ChannelConfig, kind, channel_kind_names), .example = "slack", .help = "log, slack, webhook, pagerduty or email" },
        { "url", KEY_URL(ChannelConfig, url), .example = "file:/etc/cove/slack.url",
          .help = "URL of the receiver; email: smtp://HOST:PORT or smtps://HOST:PORT" },
        { "secret", KEY_SECRET(ChannelConfig, secret), .example = "env:PAGERDUTY_KEY",
          .help = "webhook: bearer token; pagerduty: routing key; email: password" },
        { "user", KEY_TEXT(ChannelConfig, user), .example = "cove", .help = "email: user name for the login" },
        { "from", KEY_TEXT(ChannelConfig, from), .example = "cove@example.org", .help = "email: sender address" },
        { "to", KEY_STRINGS(ChannelConfig, to), .max = RECEIVERS_MAX, .example = "[ops@example.org]", .help = "email: receiver addresses" },
        { "starttls", KEY_BOOL(ChannelConfig, starttls), .help = "email over smtp://: require encryption" },
};
static const Shape channel_config_shape = SHAPE_OF(channel_config, ChannelConfig);

#define KEY_ROUTE(severity) SHAPE_STRV, (severity) * sizeof(Strv), .max = CHANNELS_MAX
static const ShapeField routes_config_fields[_SEVERITY_MAX] = {
        [SEVERITY_INFO] = { "info", KEY_ROUTE(SEVERITY_INFO) },
        [SEVERITY_WARNING] = { "warning", KEY_ROUTE(SEVERITY_WARNING) },
        [SEVERITY_CRITICAL] = { "critical", KEY_ROUTE(SEVERITY_CRITICAL) },
};
static const Shape routes_config_shape = SHAPE_OF(routes_config, Strv[_SEVERITY_MAX]);

static const ShapeField rule_config_fields[] = {
        [OVERRIDE_THRESHOLD] = { "threshold", KEY_NUMBER(AlertOverride, threshold), .example = "75", .help = "the rule holds beyond this value" },
        [OVERRIDE_SUSTAINED] = { "sustained", KEY_TIME(AlertOverride, sustained_usec), .example = "5m", .help = "how long the rule must hold before it is an alert" },
        [OVERRIDE_SEVERITY] = { "severity", KEY_ENUM(AlertOverride, severity, alert_severity_names), .example = "critical", .help = "info, warning or critical" },
        [OVERRIDE_ENABLED] = { "enabled", KEY_BOOL(AlertOverride, enabled), .initial = "true", .example = "true", .help = "false: do not evaluate the rule" },
        { NULL, SHAPE_CHARS, SHAPE_AT(AlertOverride, name), .flags = SHAPE_KEY },
};
static const Shape rule_config_shape = { "AlertOverride", rule_config_fields, ELEMENTSOF(rule_config_fields), sizeof(AlertOverride),
                                  .said = offsetof(AlertOverride, said), .remembers = true };

static bool has_scheme(const char *url, const char *one, const char *other) {
        return strncmp(url, one, strlen(one)) == 0 || strncmp(url, other, strlen(other)) == 0;
}

static void channel_check_url(Reader *r, const YamlNode *v, const char *where, const ChannelConfig *k) {
        bool mail = k->kind == CHANNEL_EMAIL;

        if (k->kind == CHANNEL_LOG)
                return;
        if (!k->url) {
                if (!yaml_tree_get(v, "url")) /* otherwise there is a complaint already */
                        reader_complain(r, v->key_place, "%s has no url", where);
        } else if (!(mail ? has_scheme(k->url, "smtp://", "smtps://") : has_scheme(k->url, "http://", "https://")))
                reader_complain(r, yaml_tree_get(v, "url")->place, "'url' in %s must begin with %s", where,
                                mail ? "smtp:// or smtps://" : "http:// or https://");
}

static void channel_check(const YamlValue *value) {
        const YamlNode *v = value->node;
        const char *where = value->where;
        ChannelConfig *k = value->object;
        Reader *r = value->reader;

        if (!yaml_tree_get(v, "kind")) {
                reader_complain(r, v->key_place, "%s has no kind: log, slack, webhook, pagerduty or email", where);
                return;
        }
        if (k->kind == CHANNEL_PAGERDUTY && !k->url && !yaml_tree_get(v, "url") && !(k->url = strdup(PAGERDUTY_URL)))
                reader_fail(r, -ENOMEM);
        channel_check_url(r, v, where, k);
        if (strcasecmp(k->name, "log") == 0 && k->kind != CHANNEL_LOG)
                reader_complain(r, v->key_place, "the channel 'log' is always there and writes to the log: choose another name");
        if (k->kind == CHANNEL_PAGERDUTY && !yaml_tree_get(v, "secret"))
                reader_complain(r, v->key_place, "%s has no secret: pagerduty wants a routing key", where);
        if (k->kind == CHANNEL_EMAIL && !k->from && !yaml_tree_get(v, "from"))
                reader_complain(r, v->key_place, "%s has no from: the address of the sender", where);
        if (k->kind == CHANNEL_EMAIL && k->to.n == 0)
                reader_complain(r, v->key_place, "%s has no to: the addresses of the receivers", where);
}

/* Names of channels are looked up when all channels are read. */
static void routes_read(const YamlValue *v) {
        if (!yaml_is(v->reader, v->node, YAML_MAP, "routes in section alerts"))
                return;
        for (const YamlNode *item = v->node->items; item; item = item->next) {
                const ShapeField *f = shape_find(&routes_config_shape, item->key);
                Guess guess = guess_new(item->key);
                char text[128];

                for (size_t i = 0; i < ELEMENTSOF(severity_words) && !f; i++)
                        guess_look(&guess, severity_words[i]);
                if (f)
                        yaml_read_value(&(YamlValue) { v->reader, f, item, "routes", shape_at(v->field, v->object) });
                else
                        reader_complain(v->reader, item->key_place, "unknown key '%.100s' in routes: info, warning or critical%s", item->key,
                                        guess_text(&guess, text));
        }
}

static bool is_rule_name(const char *text) {
        return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool rule_accepts(const YamlValue *value) {
        const YamlNode *v = value->node;
        Reader *r = value->reader;
        Guess guess = guess_new(v->key);
        char text[128];

        if (!r->hooks->alert_rules) {
                if (strlen(v->key) <= CONFIG_NAME_MAX && is_rule_name(v->key))
                        return true;
                reader_complain(r, v->key_place, "'%.100s' is no name of a rule: small letters, digits and '_'", v->key);
                return false;
        }
        for (size_t i = 0; r->hooks->alert_rules[i]; i++) {
                if (strcmp(r->hooks->alert_rules[i], v->key) == 0)
                        return true;
                guess_look(&guess, r->hooks->alert_rules[i]);
        }
        reader_complain(r, v->key_place, "there is no alert rule '%.100s'%s", v->key, guess_text(&guess, text));
        return false;
}

static const ShapeYaml channels_yaml = { .words = "a map of NAME: channel", .item = "channel", .check = channel_check };
static const ShapeYaml routes_yaml = { .words = "a map of severity: channels", .parse = routes_read };
static const ShapeYaml rules_yaml = { .words = "a map of NAME: rule", .item = "rule", .accepts = rule_accepts };

static const ShapeField alerts_config_fields[] = {
        { "enabled", KEY_BOOL(AlertsConfig, enabled), .initial = "true", .help = "evaluate the rules" },
        { "interval", KEY_TIME(AlertsConfig, interval_usec), .min = 0.01, .max = 86400, .initial = "10s", .help = "how often the rules are evaluated" },
        { "preset", KEY_ENUM(AlertsConfig, preset, alert_preset_names), .initial = "machine",
          .help = "thresholds of the rules: machine: in proportion to what the daemon allows and has; monotask: the fixed numbers of the MonoTask runbooks" },
        { "cooldown", KEY_TIME(AlertsConfig, cooldown_usec), .initial = "1h", .help = "time before the same alert is sent again" },
        { "maxAttempts", KEY_COUNT(AlertsConfig, attempts_max), .min = 1, .max = 100, .initial = "5", .help = "attempts to deliver an alert" },
        { "backoff", KEY_TIME(AlertsConfig, backoff_usec), .min = 0.01, .max = 300, .initial = "1s",
          .help = "pause before the second attempt; doubled each time, up to 5m" },
        { "maxQueued", KEY_COUNT(AlertsConfig, queue_max), .min = 1, .max = 1e6, .initial = "1000", .help = "undelivered alerts in the queue; beyond it the oldest are dropped" },
        { "channels", SHAPE_LIST, offsetof(AlertsConfig, channels), .count = offsetof(AlertsConfig, n_channels), .shape = &channel_config_shape,
          .yaml = &channels_yaml, .example = "ops", .help = "NAME: a destination for alerts; 'log' always exists" },
        { "routes", SHAPE_OBJECT, offsetof(AlertsConfig, routes), .flags = SHAPE_DERIVED, .shape = &routes_config_shape, .yaml = &routes_yaml,
          .example = "{info: [log], critical: [ops]}",
          .help = "channels for info, warning and critical; default: critical to all, warning to slack and webhook, info to log" },
        { "rules", SHAPE_LIST, offsetof(AlertsConfig, overrides), .count = offsetof(AlertsConfig, n_overrides), .shape = &rule_config_shape,
          .yaml = &rules_yaml, .example = "active_sandboxes_high", .help = "NAME: changes to the built-in rule" },
};
const Shape alerts_config_shape = SHAPE_OF(alerts_config, AlertsConfig);

static void check_route(Reader *r, const AlertsConfig *a, const YamlNode *name) {
        Guess guess = guess_new(name->text);
        char text[128];

        if (strcmp(name->text, "log") == 0)
                return;
        guess_look(&guess, "log");
        for (size_t i = 0; i < a->n_channels; i++) {
                if (strcmp(a->channels[i].name, name->text) == 0)
                        return;
                guess_look(&guess, a->channels[i].name);
        }
        reader_complain(r, name->place, "route to an unknown channel '%.100s'%s", name->text, guess_text(&guess, text));
}

static void check_routes(Reader *r, const AlertsConfig *a, const YamlNode *severity) {
        if (severity->kind == YAML_TEXT)
                check_route(r, a, severity);
        for (const YamlNode *name = severity->items; name && severity->kind == YAML_LIST; name = name->next)
                if (name->kind == YAML_TEXT)
                        check_route(r, a, name);
}

/* The default routes: critical alerts go to all channels, warnings to chats and webhooks, and all others only
 * to the log. */
static bool is_for(ChannelKind kind, AlertSeverity severity) {
        static const AlertSeverity lowest[_CHANNEL_MAX] = {
                [CHANNEL_LOG] = _SEVERITY_MAX,           [CHANNEL_SLACK] = SEVERITY_WARNING,  [CHANNEL_WEBHOOK] = SEVERITY_WARNING,
                [CHANNEL_PAGERDUTY] = SEVERITY_CRITICAL, [CHANNEL_EMAIL] = SEVERITY_CRITICAL,
        };

        return severity >= lowest[kind];
}

int alerts_route_defaults(AlertsConfig *a, const bool told[static _SEVERITY_MAX]) {
        int r = 0;

        for (AlertSeverity s = 0; s < _SEVERITY_MAX && r >= 0; s++) {
                if (told[s])
                        continue;
                strv_done(a->routes + s);
                for (size_t i = 0; i < a->n_channels && r >= 0; i++)
                        if (is_for(a->channels[i].kind, s))
                                r = strv_push(a->routes + s, a->channels[i].name);
                if (a->routes[s].n == 0 && r >= 0)
                        r = strv_push(a->routes + s, "log");
        }
        return r;
}

void alerts_finish(Reader *r, Config *c, const YamlNode *root) {
        const YamlNode *alerts = yaml_tree_get(root, "alerts"), *routes = alerts ? yaml_tree_get(alerts, "routes") : NULL;
        bool told[_SEVERITY_MAX] = { false };
        int k;

        for (size_t i = 0; i < ELEMENTSOF(told) && routes; i++) {
                const YamlNode *severity = yaml_tree_get(routes, severity_words[i]);

                told[i] = severity;
                if (severity)
                        check_routes(r, &c->alerts, severity);
        }
        k = alerts_route_defaults(&c->alerts, told);
        if (k < 0 && k != -E2BIG) /* if there are more channels than a route can have, the first ones are used */
                reader_fail(r, k);
}
