#include "observe/notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/log.h"
#include "observe/notify-format.h"
#include "observe/notify-internal.h"

#define BACKOFF_MAX (5 * 60 * USEC_PER_SEC)
#define IN_DELIVERY_MAX 100000 /* one per channel, because the queue is here */

const ChannelConfig *notify_channel_config(const Notify *n, const char *name) {
        const AlertsConfig *config = notify_config(n);

        for (size_t i = 0; i < config->n_channels; i++)
                if (strcmp(config->channels[i].name, name) == 0)
                        return &config->channels[i];
        return NULL;
}

Channel *notify_channel(Notify *n, const char *name) {
        Channel *c;

        DL_FOREACH(n->channels, c)
                if (strcmp(c->name, name) == 0)
                        return c;
        c = calloc(1, sizeof(*c));
        if (!c)
                return NULL;
        c->notify = n;
        (void) snprintf(c->name, sizeof(c->name), "%s", name);
        DL_APPEND(n->channels, c);
        return c;
}

json_t *notify_message(const Notify *n, AlertNews news, json_t *alert) {
        return json_pack("{s:s,s:o,s:o,s:O}",
                        "event", shape_name(&alert_news_names, (int) news),
                        "at", json_time(clock_wall_usec()),
                        "source", json_utf8(n->host, strlen(n->host)),
                        "alert", alert);
}

void notify_log(json_t *message) {
        _cleanup_free_ char *headline = notify_headline(message);

        log_warning("alert: %s: %s (%s, %s)", headline ? headline : "", notify_get(message, "message"), notify_get(message, "name"),
                        notify_get(message, "id"));
}

int notify_deliver(Notify *n, const ChannelConfig *k, json_t *message, uint64_t number, unsigned attempts, DeliveryDone done,
                void *userdata, Error *reterr) {
        _cleanup_envelope_ Envelope e = ENVELOPE_INIT;
        const DeliveryLimits limits = {
                .attempts_max = attempts,
                .backoff_usec = notify_config(n)->backoff_usec,
                .backoff_max_usec = BACKOFF_MAX,
                .queue_max = IN_DELIVERY_MAX,
        };
        int r = envelope_make(&e, k, message, number, reterr);

        return r < 0 ? r : delivery_add(n->deliveries, k->name, &e.spec, &limits, done, userdata, reterr);
}

/* Posts. */

void notify_post_free(Post *p) {
        store_notification_done(&p->row);
        free(p);
}

static void post_unlink(Post *p) {
        DL_DELETE(p->channel->posts, p);
        p->channel->n_waiting--;
        p->channel->notify->n_waiting--;
}

static void post_link(Channel *c, Post *p) {
        p->channel = c;
        DL_APPEND(c->posts, p);
        c->n_waiting++;
        c->notify->n_waiting++;
}

static void post_delete(Post *p) {
        store_may_lose(store_notification_delete(p->channel->notify->store, p->row.id), "that a message was sent");
        notify_post_free(p);
}

static void notify_count(const Channel *c, const char *outcome, double n) {
        metric_add2(c->notify->observe, METRIC_DELIVERIES, c->name, outcome, n);
}

/* Gives a message up. It stays listed until a hundred others have followed. */
static void post_fail(Post *p, const char *text) {
        Channel *c = p->channel;
        Notify *n = c->notify;

        log_warning("alert: could not be sent to channel '%s', giving up: %s", c->name, text);
        c->failed++;
        (void) snprintf(c->last_error, sizeof(c->last_error), "%s", text);
        c->last_error_at = clock_wall_usec();
        notify_count(c, "failed", 1);
        post_unlink(p);
        p->row.failed = true;
        free(p->row.error);
        p->row.error = strdup(text);
        store_may_lose(store_notification_update(n->store, &p->row), "what became of a message");
        DL_APPEND(n->failed, p);
        if (++n->n_failed > NOTIFY_FAILED_MAX) {
                Post *oldest = n->failed;

                DL_DELETE(n->failed, oldest);
                n->n_failed--;
                post_delete(oldest);
        }
}

static void channel_next(Channel *c);

static void notify_on_delivered(int r, const char *text, unsigned attempts, void *userdata) {
        Channel *c = userdata;
        Post *p = c->posts;

        c->busy = false;
        if (attempts > 1)
                notify_count(c, "retried", attempts - 1);
        if (r < 0) {
                char words[256];

                (void) snprintf(words, sizeof(words), "%.200s (%u attempt%s)", text, attempts, attempts == 1 ? "" : "s");
                post_fail(p, words);
        } else {
                c->delivered++;
                notify_count(c, "delivered", 1);
                c->last_delivered_at = clock_wall_usec();
                post_unlink(p);
                post_delete(p);
        }
        channel_next(c);
}

static int post_start(Post *p, Error *reterr) {
        Channel *c = p->channel;
        Notify *n = c->notify;
        const ChannelConfig *k = notify_channel_config(n, c->name);
        _cleanup_json_ json_t *message = NULL;

        if (!k)
                return error_set(reterr, -ENOENT, "there is no channel '%s' any more", c->name);
        if (p->row.starts >= MAX_OF(notify_config(n)->attempts_max, 1U)) /* a daemon that keeps crashing must not send forever */
                return error_set(reterr, -ELOOP, "the daemon was started %llu times meanwhile", (unsigned long long) p->row.starts);
        message = json_loads(p->row.message, 0, NULL);
        if (!message)
                return error_set(reterr, -EBADMSG, "the stored message cannot be read");
        p->row.starts++;
        store_may_lose(store_notification_update(n->store, &p->row), "what became of a message");
        return notify_deliver(n, k, message, p->row.id, MAX_OF(notify_config(n)->attempts_max, 1U), notify_on_delivered, c, reterr);
}

static void channel_next(Channel *c) {
        while (!c->busy && c->posts) {
                Error error = { 0 };

                if (post_start(c->posts, &error) >= 0)
                        c->busy = true;
                else
                        post_fail(c->posts, error.text);
        }
}

/* Removes the oldest message that is not being sent: new ones matter more. */
static void notify_make_room(Notify *n) {
        Post *oldest = NULL;
        Channel *c;

        if (n->n_waiting < MAX_OF(notify_config(n)->queue_max, 1U))
                return;
        DL_FOREACH(n->channels, c) {
                Post *p = c->busy && c->posts ? c->posts->next : c->posts;

                if (p && (!oldest || p->row.id < oldest->row.id))
                        oldest = p;
        }
        if (!oldest)
                return;
        oldest->channel->dropped++;
        notify_count(oldest->channel, "dropped", 1);
        post_unlink(oldest);
        post_delete(oldest);
}

static int post_add(Notify *n, const char *channel, json_t *message) {
        Channel *c = notify_channel(n, channel);
        Post *p = calloc(1, sizeof(*p));
        int r;

        if (!c || !p) {
                free(p);
                return -ENOMEM;
        }
        notify_make_room(n);
        p->row.id = ++n->last_id;
        p->row.created_at = clock_wall_usec();
        (void) snprintf(p->row.channel, sizeof(p->row.channel), "%s", channel);
        (void) snprintf(p->row.alert, sizeof(p->row.alert), "%s", notify_get(message, "id"));
        p->row.message = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15));
        if (!p->row.message) {
                notify_post_free(p);
                return -ENOMEM;
        }
        r = store_notification_insert(n->store, &p->row);
        if (r < 0)
                log_warning("alert: cannot be kept for channel '%s', sending it anyway: %s", channel, strerror(-r));
        post_link(c, p);
        channel_next(c);
        return 0;
}

/* PagerDuty keeps an incident open until it is reported as over, so it gets all news. Other channels get no
 * acknowledgements, and of events no end. */
static bool notify_wants(ChannelKind kind, AlertNews news, bool once) {
        if (kind == CHANNEL_PAGERDUTY)
                return true;
        return news != NEWS_ACKNOWLEDGED && (news != NEWS_RESOLVED || !once);
}

void notify_send(Notify *n, AlertSeverity severity, AlertNews news, bool once, json_t *alert) {
        const Strv *route = &notify_config(n)->routes[severity];
        _cleanup_json_ json_t *message = notify_message(n, news, alert);

        if (!message) {
                log_warning("alert: cannot be sent: out of memory");
                return;
        }
        for (size_t i = 0; i < route->n; i++) {
                const ChannelConfig *k = notify_channel_config(n, route->items[i]);
                ChannelKind kind = k ? k->kind : CHANNEL_LOG;

                if (!k && strcmp(route->items[i], "log") != 0)
                        continue; /* the configuration does not have the channel, which was reported when it was read */
                if (!notify_wants(kind, news, once))
                        continue;
                if (kind == CHANNEL_LOG)
                        notify_log(message);
                else if (post_add(n, k->name, message) < 0)
                        log_warning("alert: cannot be sent to channel '%s': out of memory", k->name);
        }
        if (route->n == 0)
                notify_log(message);
}

/* Life. */

static int notify_load(StoreNotification *row, void *userdata) {
        Notify *n = userdata;
        Channel *c = notify_channel(n, row->channel);
        Post *p = calloc(1, sizeof(*p));

        if (!c || !p) {
                free(p);
                return -ENOMEM;
        }
        p->row = *row;
        row->message = row->error = NULL;
        n->last_id = MAX_OF(n->last_id, p->row.id);
        p->channel = c;
        if (!p->row.failed) {
                post_link(c, p);
                return 0;
        }
        c->failed++;
        (void) snprintf(c->last_error, sizeof(c->last_error), "%s", p->row.error ? p->row.error : "");
        c->last_error_at = p->row.created_at;
        DL_APPEND(n->failed, p);
        n->n_failed++;
        return 0;
}

static int notify_on_wake(sd_event_source *source, void *userdata) {
        Notify *n = userdata;
        Channel *c;

        n->wake = sd_event_source_disable_unref(n->wake);
        DL_FOREACH(n->channels, c)
                channel_next(c);
        return 0;
}

DEFINE_CLEANUP(Notify, notify_free)

int notify_new(sd_event *event, Store *store, Outbound *outbound, Observe *observe, const Config *const *settings, Notify **ret,
                Error *reterr) {
        _cleanup_(notify_freep) Notify *n = calloc(1, sizeof(*n));
        int r;

        if (!n)
                return error_set(reterr, -ENOMEM, "out of memory");
        *n = (Notify) { .store = store, .settings = settings, .observe = observe };
        (void) gethostname(n->host, sizeof(n->host) - 1);
        r = deliveries_new(event, outbound, &n->deliveries, reterr);
        if (r >= 0)
                r = store_notification_each(store, notify_load, n);
        if (r >= 0)
                r = sd_event_add_defer(event, &n->wake, notify_on_wake, n);
        if (r < 0)
                return error_set(reterr, r, "cannot set notifications up: %m");
        *ret = TAKE_PTR(n);
        return 0;
}
