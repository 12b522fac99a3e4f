/* cove alerts: lists and acknowledges alerts, and manages who is notified. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Option ls_options[] = {
        { "status",   0, "STATUS",   "active, pending, firing, acknowledged or resolved", QUERY_TEXT("status")   },
        { "severity", 0, "SEVERITY", "info, warning or critical",                         QUERY_TEXT("severity") },
        { "limit",    0, "N",        "only the newest N (default: 100)",                QUERY_TEXT("limit")    },
};

static const Option ack_options[] = {
        { "by",   0, "NAME", "who acknowledges (default: the key)", BODY_TEXT("by")   },
        { "note", 0, "TEXT", "a note for others",           BODY_TEXT("note") },
};

static void cell_severity(Table *t, const json_t *alert, const Column *c) {
        const char *severity = json_get_text_or(alert, "severity", ""), *status = json_get_text_or(alert, "status", "");

        table_cell_colour(t, severity,
                        strcmp(status, "firing") != 0           ? COLOUR_FAINT
                                : strcmp(severity, "critical") == 0 ? COLOUR_RED
                                : strcmp(severity, "warning") == 0  ? COLOUR_YELLOW
                                                                    : COLOUR_NONE);
}

static void cell_measured(Table *t, const json_t *rule, const Column *c) {
        const char *unit = json_get_text_or(rule, "unit", "");
        double value = json_get_number(rule, c->key, NAN);

        if (isnan(value))
                table_cell(t, NULL);
        else if (strcmp(unit, "share") == 0)
                table_cell_format(t, "%.3g%%", value * 100);
        else
                table_cell_format(t, "%.6g%s", value, strcmp(unit, "seconds") == 0 ? "s" : "");
}

static void cell_share(Table *t, const json_t *rule, const Column *c) {
        if (json_has(rule, c->key))
                table_cell_format(t, "%.3g%% of %s", json_get_number(rule, c->key, 0) * 100, json_get_text_or(rule, "of", "?"));
        else
                table_cell(t, NULL);
}

static void cell_enabled(Table *t, const json_t *rule, const Column *c) {
        table_cell(t, json_get_bool(rule, "enabled") ? json_get_text(rule, "severity") : "off");
}

static void cell_sustained(Table *t, const json_t *rule, const Column *c) {
        double seconds = json_get_number(rule, c->key, 0);
        char text[HUMAN_MAX];

        table_cell(t, seconds > 0 ? human_span((usec_t) (seconds * 1e6), text) : NULL);
}

static void cell_lost(Table *t, const json_t *channel, const Column *c) {
        table_cell_format(t, "%lld", (long long) (json_get_integer(channel, "failed", 0) + json_get_integer(channel, "dropped", 0)));
}

static const Column alert_columns[] = {
        { "ID", "id" }, { "SEVERITY", "severity", cell_severity }, { "STATUS", "status" }, { ">SINCE", "startedAt", cell_age }, { "NAME", "name" },
        { "WHAT", "message" },
};

static const Column rule_columns[] = {
        { "NAME", "name" },      { "SEVERITY", "severity", cell_enabled }, { "SIGNAL", "signal" }, { ">NOW", "value", cell_measured },
        { ">ABOVE", "threshold", cell_measured }, { "WHICH IS", "share", cell_share }, { ">FOR", "sustainedSeconds", cell_sustained }, { "RUNBOOK", "runbook" },
};

static const Column channel_columns[] = {
        { "NAME", "name" },     { "KIND", "kind" },         { "STATUS", "status", cell_failing }, { ">WAITING", "pending", cell_count },
        { ">SENT", "delivered", cell_count }, { ">LOST", "failed", cell_lost }, { "TARGET", "target" }, { "LAST ERROR", "lastError" },
};

static void alerts_show(const json_t *alert, const char *word) {
        const char *key;
        json_t *value;

        json_object_foreach((json_t *) alert, key, value)
                if (!json_is_null(value))
                        human_member("", 16, key, value);
}

static void alerts_show_test(const json_t *answer, const char *channel) {
        if (json_get_bool(answer, "delivered"))
                printf("✓ %s\n", channel);
        else
                log_error("channel '%s': %s", channel, json_get_text_or(answer, "error", "was not delivered"));
}

static const Verb alerts_parts[] = {
        { "ls", "alerts ls [options]", "Lists current and past alerts, newest first.", VERB_OPTIONS(ls_options),
          .path = "/api/alerts", VERB_COLUMNS(alert_columns) },
        { "show", "alerts show ID [options]", "Shows the details of an alert.", VERB_ONE("no alert given"), .path = "/api/alerts/%",
          .show = alerts_show },
        { "ack", "alerts ack ID… [options]", "Acknowledges alerts: they are not sent again until they end.",
          VERB_OPTIONS(ack_options), VERB_SOME("no alert given"), VERB_POST("/api/alerts/%/acknowledge"), .each = true, .lines = true },
        { "rules", "alerts rules [options]", "Lists all rules with their thresholds and the current values.", .path = "/api/alerts/rules",
          VERB_COLUMNS(rule_columns) },
        { "channels", "alerts channels [options]", "Lists the channels and the state of deliveries.", .path = "/api/alerts/channels",
          VERB_COLUMNS(channel_columns) },
        { "test", "alerts test CHANNEL [options]", "Sends a test message to a channel.", VERB_ONE("no channel given"),
          VERB_POST("/api/alerts/test"), .operand = "channel", .show = alerts_show_test, .good = "delivered",
          .bad = EXIT_OWN_FAILURE },
};

const Verb command_alerts = {
        .name = "alerts",
        .about = "Shows alerts (ls, the default), acknowledges them, and tests their channels.",
        VERB_PARTS(alerts_parts), .first_is_meant = true,
};
