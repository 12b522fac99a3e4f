/* schema-alerts.c: channels, routes and rules. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "config/schema.h"

#define PAGERDUTY_URL "https://events.pagerduty.com/v2/enqueue"
#define RECEIVERS_MAX 100
#define WHERE_MAX     256

static const char *const severity_words[] = { "info", "warning", "critical", NULL };
static const char *const kind_words[] = { "log", "slack", "webhook", "pagerduty", "email", NULL };

static const Field channel_fields[] = {
        { "kind", &type_word, offsetof(ChannelConfig, kind),
          "log, slack, webhook, pagerduty or email", .words = kind_words, .example = "slack" },
        { "url", &type_url, offsetof(ChannelConfig, url),
          "where to; email: smtp://HOST:PORT or smtps://HOST:PORT", .example = "file:/etc/cove/slack.url" },
        { "secret", &type_secret, offsetof(ChannelConfig, secret),
          "webhook: bearer token; pagerduty: routing key; email: password", .example = "env:PAGERDUTY_KEY" },
        { "user", &type_text, offsetof(ChannelConfig, user), "email: who logs in", .example = "cove" },
        { "from", &type_text, offsetof(ChannelConfig, from), "email: the sender", .example = "cove@example.org" },
        { "to", &type_strings, offsetof(ChannelConfig, to), "email: the receivers", .example = "[ops@example.org]" },
        { "starttls", &type_bool, offsetof(ChannelConfig, starttls), "email over smtp://: refuse to go on without encryption" },
        { 0 },
};

static const Field rule_fields[] = {
        { "threshold", &type_number, offsetof(AlertOverride, threshold),
          "beyond it the rule holds", .told = offsetof(AlertOverride, has_threshold), .example = "75" },
        { "sustained", &type_duration, offsetof(AlertOverride, sustained_usec),
          "for so long, before it is an alert", .told = offsetof(AlertOverride, has_sustained), .example = "5m" },
        { "severity", &type_word, offsetof(AlertOverride, severity),
          "info, warning or critical",
          .words = severity_words, .told = offsetof(AlertOverride, has_severity), .example = "critical" },
        { "enabled", &type_bool, offsetof(AlertOverride, enabled),
          "false: the rule is not looked at", .told = offsetof(AlertOverride, has_enabled), .example = "true" },
        { 0 },
};

static const void *channel_fresh(void) {
        static const ChannelConfig fresh = { .name = "ops" };

        return &fresh;
}

static const void *rule_fresh(void) {
        static const AlertOverride fresh = { .enabled = true };

        return &fresh;
}

const Field alerts_fields[] = {
        { "enabled", &type_bool, offsetof(AlertsConfig, enabled), "whether rules are looked at" },
        { "interval", &type_duration, offsetof(AlertsConfig, interval_usec), "how often", .min = 0.01, .max = 86400 },
        { "cooldown", &type_duration, offsetof(AlertsConfig, cooldown_usec), "the same alert is not sent again within it" },
        { "maxAttempts", &type_uint, offsetof(AlertsConfig, attempts_max), "to deliver one", .min = 1, .max = 100 },
        { "backoff", &type_duration, offsetof(AlertsConfig, backoff_usec),
          "before the second attempt; doubled, up to 5m", .min = 0.01, .max = 300 },
        { "maxQueued", &type_uint, offsetof(AlertsConfig, queue_max), "undelivered at once; the oldest go", .min = 1, .max = 1e6 },
        { "channels", &type_channels, 0, "NAME: where alerts can go; 'log' is always there", .flags = FIELD_ITEMS,
          .fields = channel_fields, .fresh = channel_fresh, .example = "ops" },
        { "routes", &type_routes, 0,
          "info, warning, critical: lists of channels; default: critical to all, warning to slack and webhook, info to log",
          .flags = FIELD_DERIVED,
          .example = "{info: [log], critical: [ops]}" },
        { "rules", &type_rules, 0, "NAME: what differs from the built-in rule", .flags = FIELD_ITEMS,
          .fields = rule_fields, .fresh = rule_fresh, .example = "active_sandboxes_high" },
        { 0 },
};

/* One more at the end of an array, zeroed; NULL: no memory. */
static void *schema_alerts_grow(Reader *r, void *array, size_t *n, size_t size) {
        char *last;

        if (array_extend(array, *n, size) < 0) {
                reader_fail(r, -ENOMEM);
                return NULL;
        }
        last = *(char **) array + (*n)++ * size;
        return memset(last, 0, size);
}

static bool good_name(Reader *r, const YamlNode *v, const char *what) {
        if (strlen(v->key) <= CONFIG_NAME_MAX && name_is_good(v->key))
                return true;
        reader_complain(r, v->key_place, "'%.100s' is no name of a %s: up to %d letters, digits, '_', '-', '.'", v->key, what,
                        CONFIG_NAME_MAX);
        return false;
}

static bool has_scheme(const char *url, const char *one, const char *other) {
        return strncmp(url, one, strlen(one)) == 0 || strncmp(url, other, strlen(other)) == 0;
}

static void schema_alerts_check_url(Reader *r, const YamlNode *v, const char *where, const ChannelConfig *k) {
        bool mail = k->kind == CHANNEL_EMAIL;

        if (k->kind == CHANNEL_LOG)
                return;
        if (!k->url) {
                if (!yaml_tree_get(v, "url")) /* else something has been said already */
                        reader_complain(r, v->key_place, "%s has no url", where);
        } else if (!(mail ? has_scheme(k->url, "smtp://", "smtps://") : has_scheme(k->url, "http://", "https://")))
                reader_complain(r, yaml_tree_get(v, "url")->place, "'url' in %s must begin with %s", where,
                                mail ? "smtp:// or smtps://" : "http:// or https://");
}

static void check_channel(Reader *r, const YamlNode *v, const char *where, ChannelConfig *k) {
        if (!yaml_tree_get(v, "kind")) {
                reader_complain(r, v->key_place, "%s has no kind: log, slack, webhook, pagerduty or email", where);
                return;
        }
        if (k->kind == CHANNEL_PAGERDUTY && !k->url && !yaml_tree_get(v, "url") && !(k->url = strdup(PAGERDUTY_URL)))
                reader_fail(r, -ENOMEM);
        schema_alerts_check_url(r, v, where, k);
        if (strcasecmp(k->name, "log") == 0 && k->kind != CHANNEL_LOG)
                reader_complain(r, v->key_place, "the channel 'log' is always there and writes to the log: choose another name");
        if (k->kind == CHANNEL_PAGERDUTY && !yaml_tree_get(v, "secret"))
                reader_complain(r, v->key_place, "%s has no secret: pagerduty wants a routing key", where);
        if (k->kind == CHANNEL_EMAIL && !k->from && !yaml_tree_get(v, "from"))
                reader_complain(r, v->key_place, "%s has no from: who sends the mail?", where);
        if (k->kind == CHANNEL_EMAIL && k->to.n == 0)
                reader_complain(r, v->key_place, "%s has no to: who gets the mail?", where);
}

static void parse_channels(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        AlertsConfig *a = target;

        if (!read_is(r, v, YAML_MAP, "channels in section alerts"))
                return;
        for (const YamlNode *item = v->items; item; item = item->next) {
                ChannelConfig *k;
                char place[WHERE_MAX];

                if (!good_name(r, item, "channel"))
                        continue;
                k = schema_alerts_grow(r, &a->channels, &a->n_channels, sizeof(*k));
                if (!k)
                        return;
                memcpy(k->name, item->key, strlen(item->key) + 1);
                k->to = (Strv) STRV_INIT(RECEIVERS_MAX);
                (void) snprintf(place, sizeof(place), "channel %s", k->name);
                read_fields(r, f->fields, item, place, k);
                check_channel(r, item, place, k);
        }
}

static json_t *show_channels(const Field *f, const void *target) {
        const AlertsConfig *a = target;
        json_t *map = json_object();

        for (size_t i = 0; i < a->n_channels; i++)
                (void) json_object_set_new(map, a->channels[i].name, show_fields(f->fields, a->channels + i));
        return map;
}

/* Names of channels are looked up when all are read. */
static void parse_routes(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        AlertsConfig *a = target;

        if (!read_is(r, v, YAML_MAP, "routes in section alerts"))
                return;
        for (const YamlNode *item = v->items; item; item = item->next) {
                Guess guess = guess_new(item->key);
                char text[128];
                size_t i = 0;

                while (severity_words[i] && strcmp(severity_words[i], item->key) != 0)
                        guess_look(&guess, severity_words[i++]);
                if (severity_words[i])
                        type_strings.parse(r, &(Field) { .name = severity_words[i], .type = &type_strings }, item, "routes", a->routes + i);
                else
                        reader_complain(r, item->key_place, "unknown key '%.100s' in routes: info, warning or critical%s", item->key,
                                        guess_text(&guess, text));
        }
}

static json_t *show_routes(const Field *f, const void *target) {
        const AlertsConfig *a = target;
        json_t *map = json_object();

        for (size_t i = 0; i < ELEMENTSOF(a->routes); i++)
                (void) json_object_set_new(map, severity_words[i], type_strings.show(&(Field) { 0 }, a->routes + i));
        return map;
}

static bool is_rule_name(const char *text) {
        return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool check_rule_name(Reader *r, const YamlNode *v) {
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

static void parse_rules(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        AlertsConfig *a = target;

        if (!read_is(r, v, YAML_MAP, "rules in section alerts"))
                return;
        for (const YamlNode *item = v->items; item; item = item->next) {
                char place[WHERE_MAX];
                AlertOverride *o;

                if (!check_rule_name(r, item))
                        continue;
                o = schema_alerts_grow(r, &a->overrides, &a->n_overrides, sizeof(*o));
                if (!o)
                        return;
                (void) snprintf(o->name, sizeof(o->name), "%s", item->key);
                (void) snprintf(place, sizeof(place), "rule %s", o->name);
                read_fields(r, f->fields, item, place, o);
        }
}

/* Only what is there: the rest is the rule's own. */
static json_t *show_rule(const Field *fields, const AlertOverride *o) {
        json_t *map = json_object();

        for (const Field *f = fields; f->name; f++)
                if (*(const bool *) ((const char *) o + f->told))
                        (void) json_object_set_new(map, f->name, f->type->show(f, o));
        return map;
}

static json_t *show_rules(const Field *f, const void *target) {
        const AlertsConfig *a = target;
        json_t *map = json_object();

        for (size_t i = 0; i < a->n_overrides; i++)
                (void) json_object_set_new(map, a->overrides[i].name, show_rule(f->fields, a->overrides + i));
        return map;
}

const FieldType type_channels = { "a map of NAME: channel", parse_channels, show_channels, NULL };
const FieldType type_routes = { "a map of severity: channels", parse_routes, show_routes, NULL };
const FieldType type_rules = { "a map of NAME: rule", parse_rules, show_rules, NULL };

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

/* Info to the log; what is worse to everywhere else, or to the log when there is nowhere else. */
/* Who gets what, unless somebody says otherwise: what is critical goes to everybody, a warning to where people chat or programs
 * listen, the rest to the log only. */
static bool is_for(ChannelKind kind, AlertSeverity severity) {
        static const AlertSeverity lowest[_CHANNEL_MAX] = {
                [CHANNEL_LOG] = _SEVERITY_MAX,
                [CHANNEL_SLACK] = SEVERITY_WARNING,
                [CHANNEL_WEBHOOK] = SEVERITY_WARNING,
                [CHANNEL_PAGERDUTY] = SEVERITY_CRITICAL,
                [CHANNEL_EMAIL] = SEVERITY_CRITICAL,
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
        if (k < 0 && k != -E2BIG) /* more channels than a route can have: the first ones */
                reader_fail(r, k);
}
