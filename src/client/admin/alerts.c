/* cove alerts: what is wrong, who takes care, who is told. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/human.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

typedef struct AlertsOptions {
        Common common;
        const char *status, *severity, *limit, *by, *note;
} AlertsOptions;

APPLY_TEXT(AlertsOptions, status)
APPLY_TEXT(AlertsOptions, severity)
APPLY_TEXT(AlertsOptions, limit)
APPLY_TEXT(AlertsOptions, by)
APPLY_TEXT(AlertsOptions, note)

static const Option ls_options[] = {
        { "status",   0, "STATUS",   "active, pending, firing, acknowledged or resolved", apply_status   },
        { "severity", 0, "SEVERITY", "info, warning or critical",                         apply_severity },
        { "limit",    0, "N",        "so many, the newest (default: 100)",                apply_limit    },
        COMMON_OPTIONS,
};

static const Option ack_options[] = {
        { "by",   0, "NAME", "who takes care (default: the key)", apply_by   },
        { "note", 0, "TEXT", "what others should know",            apply_note },
        COMMON_OPTIONS,
};

static const Option plain_options[] = { COMMON_OPTIONS };

static const Usage ls_usage = {
        .synopsis = "alerts ls [options]",
        .about = "Lists alerts, the newest first: what is wrong now, and what was.",
        USAGE_OPTIONS(ls_options),
};

static const Usage show_usage = {
        .synopsis = "alerts show ID [options]",
        .about = "Tells all about one alert.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no alert given",
};

static const Usage ack_usage = {
        .synopsis = "alerts ack ID… [options]",
        .about = "Acknowledges alerts: somebody takes care, and nobody is told again until they are over.",
        USAGE_OPTIONS(ack_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no alert given",
};

static const Usage rules_usage = {
        .synopsis = "alerts rules [options]",
        .about = "Lists all rules: their threshold, and what is measured now.",
        USAGE_OPTIONS(plain_options),
};

static const Usage channels_usage = {
        .synopsis = "alerts channels [options]",
        .about = "Lists where alerts are sent, and how that goes.",
        USAGE_OPTIONS(plain_options),
};

static const Usage test_usage = {
        .synopsis = "alerts test CHANNEL [options]",
        .about = "Sends a test message to a channel.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no channel given",
};

static Colour alerts_colour_of(const json_t *alert) {
        const char *severity = json_get_text_or(alert, "severity", ""), *status = json_get_text_or(alert, "status", "");

        if (strcmp(status, "firing") != 0)
                return COLOUR_FAINT;
        return strcmp(severity, "critical") == 0 ? COLOUR_RED : strcmp(severity, "warning") == 0 ? COLOUR_YELLOW : COLOUR_NONE;
}

static void alerts_cell_age(Table *t, const json_t *object, const char *key) {
        const char *text = json_get_text(object, key);
        char buffer[HUMAN_MAX];
        usec_t at;

        if (text && human_parse_time(text, &at) >= 0)
                table_cell(t, human_span(human_now() > at ? human_now() - at : 0, buffer));
        else
                table_cell(t, NULL);
}

static void add_alert(Table *t, const json_t *alert) {
        table_cell(t, json_get_text(alert, "id"));
        table_cell_colour(t, json_get_text(alert, "severity"), alerts_colour_of(alert));
        table_cell(t, json_get_text(alert, "status"));
        alerts_cell_age(t, alert, "startedAt");
        table_cell(t, json_get_text(alert, "name"));
        table_cell(t, json_get_text(alert, "message"));
}

static int alerts_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "ID", "SEVERITY", "STATUS", ">SINCE", "NAME", "WHAT", NULL };
        const AlertsOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/alerts");
        url_query(&u, "status", o->status);
        url_query(&u, "severity", o->severity);
        url_query(&u, "limit", o->limit);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, add_alert);
}

static void print_member(const char *key, const json_t *value) {
        _cleanup_free_ char *raw = json_is_string(value) ? NULL : client_json_print(value, /* pretty= */ false);
        _cleanup_free_ char *text = human_clean(json_is_string(value) ? json_string_value(value) : raw ? raw : "?");

        if (!json_is_null(value))
                printf("%-16s %s\n", key, text ? text : "?");
}

static int alerts_show(const Place *place, void *options, const Operands *words) {
        const AlertsOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        const char *key;
        json_t *value;

        url_begin(&u, "/api/alerts");
        url_part(&u, words->items[0]);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                json_object_foreach(a.json, key, value)
                        print_member(key, value);
        return 0;
}

static int acknowledge_one(const Place *place, const AlertsOptions *o, const char *id) {
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_text(&b, "by", o->by);
        json_put_text(&b, "note", o->note);
        url_begin(&u, "/api/alerts");
        url_part(&u, id);
        url_part(&u, "acknowledge");
        if (client_need(place, "POST", &u, &b, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(id);
        return 0;
}

static int acknowledge(const Place *place, void *options, const Operands *words) {
        int status = 0;

        for (unsigned i = 0; i < words->n; i++)
                if (acknowledge_one(place, options, words->items[i]) != 0)
                        status = EXIT_OWN_FAILURE;
        return status;
}

static void cell_value(Table *t, const json_t *rule, const char *key) {
        const char *unit = json_get_text_or(rule, "unit", "");
        double value = json_get_number(rule, key, NAN);

        if (isnan(value))
                table_cell(t, NULL);
        else if (strcmp(unit, "share") == 0)
                table_cell_format(t, "%.3g%%", value * 100);
        else
                table_cell_format(t, "%.6g%s", value, strcmp(unit, "seconds") == 0 ? "s" : "");
}

static void alerts_add_rule(Table *t, const json_t *rule) {
        double sustained = json_get_number(rule, "sustainedSeconds", 0);
        char buffer[HUMAN_MAX];

        table_cell(t, json_get_text(rule, "name"));
        table_cell(t, json_get_bool(rule, "enabled") ? json_get_text(rule, "severity") : "off");
        table_cell(t, json_get_text(rule, "signal"));
        cell_value(t, rule, "value");
        cell_value(t, rule, "threshold");
        table_cell(t, sustained > 0 ? human_span((usec_t) (sustained * 1e6), buffer) : NULL);
        table_cell(t, json_get_text(rule, "runbook"));
}

static void add_channel(Table *t, const json_t *channel) {
        const char *status = json_get_text_or(channel, "status", "");

        table_cell(t, json_get_text(channel, "name"));
        table_cell(t, json_get_text(channel, "kind"));
        table_cell_colour(t, status, strcmp(status, "failing") == 0 ? COLOUR_RED : COLOUR_NONE);
        table_cell_format(t, "%lld", (long long) json_get_integer(channel, "pending", 0));
        table_cell_format(t, "%lld", (long long) json_get_integer(channel, "delivered", 0));
        table_cell_format(t, "%lld", (long long) (json_get_integer(channel, "failed", 0) + json_get_integer(channel, "dropped", 0)));
        table_cell(t, json_get_text(channel, "target"));
        table_cell(t, json_get_text(channel, "lastError"));
}

static int show_table(const Place *place, const AlertsOptions *o, const char *path, const char *const *heads,
                void (*row)(Table *t, const json_t *item)) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, path);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, row);
}

static int rules(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "NAME", "SEVERITY", "SIGNAL", ">NOW", ">ABOVE", ">FOR", "RUNBOOK", NULL };

        return show_table(place, options, "/api/alerts/rules", heads, alerts_add_rule);
}

static int channels(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "NAME", "KIND", "STATUS", ">WAITING", ">SENT", ">LOST", "TARGET", "LAST ERROR", NULL };

        return show_table(place, options, "/api/alerts/channels", heads, add_channel);
}

static int test(const Place *place, void *options, const Operands *words) {
        const AlertsOptions *o = options;
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        bool delivered;

        json_put_text(&b, "channel", words->items[0]);
        url_begin(&u, "/api/alerts/test");
        if (client_need(place, "POST", &u, &b, &a) < 0)
                return EXIT_OWN_FAILURE;
        delivered = json_get_bool(a.json, "delivered");
        if (o->common.json)
                answer_print(&a);
        else if (delivered)
                printf("✓ %s\n", words->items[0]);
        else
                log_error("channel '%s': %s", words->items[0], json_get_text_or(a.json, "error", "was not delivered"));
        return delivered ? 0 : EXIT_OWN_FAILURE;
}

int verb_alerts(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "ls", &ls_usage, alerts_list },
                { "show", &show_usage, alerts_show },
                { "ack", &ack_usage, acknowledge },
                { "rules", &rules_usage, rules },
                { "channels", &channels_usage, channels },
                { "test", &test_usage, test },
        };
        AlertsOptions o = { 0 };
        bool none = argc < 2 || (argv[1][0] == '-' && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0);

        if (none) { /* the name of the verb stands for "ls" */
                _cleanup_place_ Place place = { 0 };
                Operands words;
                int status;

                if (usage_begin(&ls_usage, argc, argv, &o, &words, &place, &status) == 0)
                        status = alerts_list(&place, &o, &words);
                return status;
        }
        return subverb_run("alerts", "Shows what is wrong (ls, the default), who takes care of it and who is told.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);
}
