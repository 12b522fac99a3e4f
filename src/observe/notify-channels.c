/* notify-channels.c: the state of the channels, and test messages. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "observe/notify-format.h"
#include "observe/notify-internal.h"

struct NotifyTest {
        Notify *notify;
        NotifyTested done; /* NULL: the caller has cancelled */
        void *userdata;
        NotifyTest *prev, *next;
};

static void test_free(NotifyTest *t) {
        DL_DELETE(t->notify->tests, t);
        free(t);
}

void notify_test_forget(NotifyTest *t) {
        if (t)
                t->done = NULL;
}

static void notify_channels_on_tested(int r, const char *text, unsigned attempts, void *userdata) {
        NotifyTest *t = userdata;

        if (t->done)
                t->done(r, text, t->userdata);
        test_free(t);
}

static json_t *test_alert(void) {
        return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}",
                        "id", "al-test",
                        "name", "test",
                        "title", "Test Message",
                        "severity", "info",
                        "message", "This is a test of the channel. Nothing is wrong.",
                        "firedAt", json_time(clock_wall_usec()));
}

int notify_test(Notify *n, const char *channel, NotifyTested done, void *userdata, NotifyTest **ret, Error *reterr) {
        const ChannelConfig *k = notify_channel_config(n, channel);
        _cleanup_json_ json_t *alert = test_alert(), *message = alert ? notify_message(n, NEWS_TEST, alert) : NULL;
        NotifyTest *t;
        int r;

        if (!k && strcmp(channel, "log") != 0)
                return error_set(reterr, -ENOENT, "there is no channel '%s'", channel);
        if (!message)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (!k || k->kind == CHANNEL_LOG) {
                notify_log(message);
                return 1;
        }
        t = calloc(1, sizeof(*t));
        if (!t)
                return error_set(reterr, -ENOMEM, "out of memory");
        *t = (NotifyTest) { .notify = n, .done = done, .userdata = userdata };
        DL_APPEND(n->tests, t);
        r = notify_deliver(n, k, message, ++n->last_id, /* attempts= */ 1, notify_channels_on_tested, t, reterr);
        if (r < 0) {
                test_free(t);
                return r;
        }
        *ret = t;
        return 0;
}

/* Shows only the host: the path of a webhook may be a secret. */
static json_t *target_json(const ChannelConfig *k) {
        const char *scheme = k && k->url ? strstr(k->url, "://") : NULL, *host, *end, *at;
        _cleanup_free_ char *text = NULL;

        if (!scheme)
                return json_null();
        host = scheme + 3;
        end = host + strcspn(host, "/?#");
        at = memrchr(host, '@', (size_t) (end - host));
        host = at ? at + 1 : host;
        if (asprintf(&text, "%.*s://%.*s", (int) (scheme - k->url), k->url, (int) (end - host), host) < 0)
                text = NULL;
        return json_text_or_null(text);
}

static bool is_routed(const Notify *n, AlertSeverity s, const char *name) {
        const Strv *route = &notify_config(n)->routes[s];

        for (size_t i = 0; i < route->n; i++)
                if (strcmp(route->items[i], name) == 0)
                        return true;
        return false;
}

static json_t *severities_json(const Notify *n, const char *name) {
        json_t *list = json_array();

        for (AlertSeverity s = 0; s < _SEVERITY_MAX; s++)
                if (is_routed(n, s, name))
                        (void) json_array_append_new(list, json_string(alert_severity_name(s)));
        return list;
}

static const char *health_of(const Channel *c) {
        if (c->last_error_at > c->last_delivered_at)
                return "failing";
        return c->last_delivered_at > 0 ? "ok" : "unused";
}

static json_t *channel_json(Notify *n, const char *name, const ChannelConfig *k) {
        static const Channel fresh = { 0 };
        const Channel *c = NULL, *known = &fresh;

        DL_FOREACH(n->channels, c)
                if (strcmp(c->name, name) == 0)
                        known = c;
        return json_pack("{s:s,s:s,s:o,s:o,s:s,s:I,s:I,s:I,s:I,s:o,s:o,s:o}",
                        "name", name,
                        "kind", shape_name(&channel_kind_names, k ? (int) k->kind : CHANNEL_LOG),
                        "target", target_json(k),
                        "severities", severities_json(n, name),
                        "status", k && k->kind != CHANNEL_LOG ? health_of(known) : "ok",
                        "pending", (json_int_t) known->n_waiting,
                        "delivered", (json_int_t) known->delivered,
                        "failed", (json_int_t) known->failed,
                        "dropped", (json_int_t) known->dropped,
                        "lastError", json_text_or_null(known->last_error[0] ? known->last_error : NULL),
                        "lastErrorAt", json_time(known->last_error_at),
                        "lastDeliveredAt", json_time(known->last_delivered_at));
}

json_t *notify_channels_json(Notify *n) {
        const AlertsConfig *config = notify_config(n);
        json_t *list = json_array();

        if (!notify_channel_config(n, "log"))
                (void) json_array_append_new(list, channel_json(n, "log", NULL));
        for (size_t i = 0; i < config->n_channels; i++)
                (void) json_array_append_new(list, channel_json(n, config->channels[i].name, &config->channels[i]));
        return list;
}

Notify *notify_free(Notify *n) {
        Channel *c, *next_channel;
        Post *p, *next;

        if (!n)
                return NULL;
        deliveries_free(n->deliveries);
        while (n->tests)
                test_free(n->tests);
        DL_FOREACH_SAFE(n->channels, c, next_channel) {
                DL_FOREACH_SAFE(c->posts, p, next)
                        notify_post_free(p);
                free(c);
        }
        DL_FOREACH_SAFE(n->failed, p, next)
                notify_post_free(p);
        sd_event_source_disable_unref(n->wake);
        free(n);
        return NULL;
}
