#include "observe/notify-format.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/alert-engine.h"

#define BODY_MAX ((size_t) 256 << 10)

void envelope_done(Envelope *e) {
        strv_done(&e->headers);
        if (e->body)
                explicit_bzero(e->body, e->spec.size); /* PagerDuty's key is in it */
        free(e->body);
}

const char *notify_get(json_t *message, const char *key) {
        const char *text = json_string_value(json_object_get(json_object_get(message, "alert"), key));

        return text ? text : "";
}

static const char *event_of(json_t *message) {
        const char *text = json_string_value(json_object_get(message, "event"));

        return text ? text : "";
}

static const char *source_of(json_t *message) {
        const char *text = json_string_value(json_object_get(message, "source"));

        return text ? text : "cove";
}

static bool notify_format_is_over(json_t *message) {
        return shape_value(&alert_news_names, event_of(message)) == NEWS_RESOLVED;
}

char *notify_headline(json_t *message) {
        char severity[16] = "", *line = NULL;
        const char *s = notify_get(message, "severity");

        for (size_t i = 0; s[i] && i + 1 < sizeof(severity); i++)
                severity[i] = (char) toupper((unsigned char) s[i]);
        if (asprintf(&line, "[%s] %s: %s", severity, notify_get(message, "title"), event_of(message)) < 0)
                return NULL;
        return line;
}

/* Slack: https://api.slack.com/reference/messaging/attachments; Mattermost, Rocket.Chat and Discord (/slack)
 * accept the same. */

static const char *notify_colour_of(json_t *message) {
        static const char *const colours[_SEVERITY_MAX] = { "#4a90d9", "#e8a33d", "#d72b3f" };
        int severity = shape_value(&alert_severity_names, notify_get(message, "severity"));

        return notify_format_is_over(message) ? "#2eb67d" : colours[MAX_OF(severity, (int) SEVERITY_INFO)];
}

/* Unescaped text could be a link, or notify a whole channel: <!channel>. */
static json_t *slack_text(const char *text) {
        _cleanup_text_ Text t = TEXT_INIT(BODY_MAX);

        for (; *text; text++)
                if (*text == '&')
                        text_put_string(&t, "&amp;");
                else if (*text == '<')
                        text_put_string(&t, "&lt;");
                else if (*text == '>')
                        text_put_string(&t, "&gt;");
                else
                        text_put(&t, text, 1);
        return t.error < 0 ? NULL : json_stringn(t.data ? t.data : "", t.size);
}

static json_t *slack_field(const char *title, const char *value) {
        return json_pack("{s:s,s:o,s:b}", "title", title, "value", slack_text(value), "short", 1);
}

static json_t *slack(const ChannelConfig *channel, json_t *message) {
        _cleanup_free_ char *headline = notify_headline(message);
        json_t *context = json_object_get(json_object_get(message, "alert"), "context");
        _cleanup_free_ char *details = json_is_object(context) ? json_dumps(context, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

        return json_pack("{s:o,s:[{s:s,s:o,s:o,s:[o,o,o,o]}]}",
                        "text", slack_text(headline ? headline : ""),
                        "attachments",
                        "color", notify_colour_of(message),
                        "fallback", slack_text(headline ? headline : ""),
                        "text", slack_text(notify_get(message, "message")),
                        "fields",
                        slack_field("Alert", notify_get(message, "name")),
                        slack_field("Host", source_of(message)),
                        slack_field("Id", notify_get(message, "id")),
                        slack_field("Context", details ? details : "-"));
}

/* PagerDuty: https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */

static json_t *pagerduty(const ChannelConfig *channel, json_t *message) {
        static const char *const actions[_NEWS_MAX] = {
                [NEWS_FIRED] = "trigger",       [NEWS_REPEATED] = "trigger", [NEWS_ACKNOWLEDGED] = "acknowledge",
                [NEWS_RESOLVED] = "resolve",    [NEWS_TEST] = "trigger",
        };
        int news = shape_value(&alert_news_names, event_of(message));
        _cleanup_free_ char *headline = notify_headline(message);
        char summary[1024]; /* the maximum of PagerDuty */

        (void) snprintf(summary, sizeof(summary), "%.300s: %.600s", headline ? headline : "", notify_get(message, "message"));
        return json_pack("{s:s,s:s,s:s,s:{s:o,s:s,s:s,s:O*,s:s,s:s,s:O*}}",
                        "routing_key", channel->secret ? channel->secret : "",
                        "event_action", news >= 0 ? actions[news] : "trigger",
                        "dedup_key", notify_get(message, "id"),
                        "payload",
                        "summary", json_utf8(summary, utf8_prefix(summary, strlen(summary), &(bool) { false })),
                        "source", source_of(message),
                        "severity", notify_get(message, "severity"),
                        "timestamp", json_object_get(message, "at"),
                        "component", "cove",
                        "class", notify_get(message, "name"),
                        "custom_details", json_object_get(message, "alert"));
}

static json_t *webhook(const ChannelConfig *channel, json_t *message) {
        return json_incref(message);
}

static json_t *(*const forms[_CHANNEL_MAX])(const ChannelConfig *channel, json_t *message) = {
        [CHANNEL_SLACK] = slack,
        [CHANNEL_PAGERDUTY] = pagerduty,
        [CHANNEL_WEBHOOK] = webhook,
};

static int make_json(Envelope *e, const ChannelConfig *channel, json_t *message) {
        _cleanup_json_ json_t *j = forms[channel->kind](channel, message);
        char *bearer = NULL;
        int r;

        if (!j)
                return -ENOMEM;
        e->body = json_print(j, &e->spec.size);
        if (!e->body)
                return -ENOMEM;
        e->spec.body = e->body;
        r = strv_push(&e->headers, "Content-Type: application/json");
        if (r >= 0 && channel->kind == CHANNEL_WEBHOOK && channel->secret) {
                if (asprintf(&bearer, "Authorization: Bearer %s", channel->secret) < 0)
                        return -ENOMEM;
                r = strv_push_take(&e->headers, bearer);
                if (r < 0)
                        free(bearer);
        }
        e->spec.headers = (const char *const *) e->headers.items;
        return r;
}

static int make_mail(Envelope *e, const ChannelConfig *channel, json_t *message, uint64_t number) {
        e->body = notify_mail(channel, message, number, &e->spec.size);
        if (!e->body)
                return -ENOMEM;
        e->spec.body = e->body;
        e->spec.mail_from = channel->from;
        e->spec.mail_to = &channel->to;
        e->spec.user = channel->user;
        e->spec.password = channel->secret;
        e->spec.starttls = channel->starttls;
        return 0;
}

int envelope_make(Envelope *e, const ChannelConfig *channel, json_t *message, uint64_t number, Error *reterr) {
        int r;

        e->spec.url = channel->url;
        if (channel->kind == CHANNEL_EMAIL)
                r = make_mail(e, channel, message, number);
        else if (forms[channel->kind])
                r = make_json(e, channel, message);
        else
                return error_set(reterr, -EINVAL, "channel '%s' writes to the log only", channel->name);
        return r < 0 ? error_set(reterr, r, "channel '%s': the message cannot be made: %m", channel->name) : 0;
}
