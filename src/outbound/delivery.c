#include "outbound/delivery.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"

#define HEADERS_MAX    64
#define RECIPIENTS_MAX 256
#define EXCERPT_MAX    100 /* bytes quoted from a failed response */

typedef struct Delivery {
        Deliveries *deliveries;
        struct Delivery *prev, *next;
        char target[64];
        DeliveryLimits limits;
        DeliveryDone done;
        void *userdata;

        OutboundSpec spec; /* points to the fields below */
        char *method, *url, *body, *ca, *sigv4, *access_key, *secret_key, *mail_from, *user, *password;
        Strv headers, mail_to;

        unsigned attempts;
        OutboundRequest *request;
        sd_event_source *timer; /* the pause before the next attempt */
        char last[256];
} Delivery;

struct Deliveries {
        sd_event *event;
        Outbound *outbound;
        Delivery *list;
        DeliveryStats stats;
};

int deliveries_new(sd_event *event, Outbound *o, Deliveries **ret, Error *reterr) {
        Deliveries *d = calloc(1, sizeof(*d));

        if (!d)
                return error_set(reterr, -ENOMEM, "out of memory");
        d->event = sd_event_ref(event);
        d->outbound = o;
        *ret = d;
        return 0;
}

static void delivery_secret_free(char *s) {
        if (s)
                explicit_bzero(s, strlen(s));
        free(s);
}

static void delivery_free(Delivery *v) {
        outbound_cancel(v->request);
        sd_event_source_disable_unref(v->timer);
        free(v->method);
        free(v->url);
        if (v->body)
                explicit_bzero(v->body, v->spec.size);
        free(v->body);
        free(v->ca);
        free(v->sigv4);
        free(v->access_key);
        delivery_secret_free(v->secret_key);
        free(v->mail_from);
        free(v->user);
        delivery_secret_free(v->password);
        strv_done(&v->headers);
        strv_done(&v->mail_to);
        free(v);
}

static void delivery_unlink(Delivery *v) {
        if (v->prev)
                v->prev->next = v->next;
        else
                v->deliveries->list = v->next;
        if (v->next)
                v->next->prev = v->prev;
        v->deliveries->stats.pending--;
}

Deliveries *deliveries_free(Deliveries *d) {
        if (!d)
                return NULL;
        while (d->list) {
                Delivery *v = d->list;

                delivery_unlink(v);
                delivery_free(v);
        }
        sd_event_unref(d->event);
        free(d);
        return NULL;
}

/* Copying. It fails if memory runs out, or if a list is too long. */

static bool delivery_copy_text(char **to, const char **spec, const char *from) {
        if (!from)
                return true;
        *to = strdup(from);
        *spec = *to;
        return *to;
}

static bool copy_body(Delivery *v, const OutboundSpec *from) {
        if (!from->body)
                return true;
        v->body = malloc(from->size + 1);
        if (!v->body)
                return false;
        memcpy(v->body, from->body, from->size);
        v->body[from->size] = 0;
        v->spec.body = v->body;
        return true;
}

static bool copy_lists(Delivery *v, const OutboundSpec *from) {
        if (strv_push_all(&v->headers, from->headers) < 0 || strv_extend(&v->mail_to, from->mail_to) < 0)
                return false;
        v->spec.headers = (const char *const *) v->headers.items;
        v->spec.mail_to = from->mail_to ? &v->mail_to : NULL;
        return true;
}

static int delivery_copy(Delivery *v, const OutboundSpec *from, Error *reterr) {
        v->spec = *from;
        if (!delivery_copy_text(&v->method, &v->spec.method, from->method) || !delivery_copy_text(&v->url, &v->spec.url, from->url) ||
                        !delivery_copy_text(&v->ca, &v->spec.ca, from->ca) || !delivery_copy_text(&v->sigv4, &v->spec.sigv4, from->sigv4) ||
                        !delivery_copy_text(&v->access_key, &v->spec.access_key, from->access_key) ||
                        !delivery_copy_text(&v->secret_key, &v->spec.secret_key, from->secret_key) ||
                        !delivery_copy_text(&v->mail_from, &v->spec.mail_from, from->mail_from) ||
                        !delivery_copy_text(&v->user, &v->spec.user, from->user) ||
                        !delivery_copy_text(&v->password, &v->spec.password, from->password) || !copy_body(v, from) ||
                        !copy_lists(v, from))
                return error_set(reterr, -ENOMEM, "%s: out of memory, or more than %d headers", v->target, HEADERS_MAX);
        return 0;
}

/* The meaning of results. */

static bool worth_another(const OutboundResult *result) {
        if (result->error == -EINVAL || result->final)
                return false;
        if (result->error < 0)
                return result->status < 500; /* a mail server that says 5xx has decided */
        return result->status >= 500 || result->status == 408 || result->status == 425 || result->status == 429;
}

static bool is_delivered(const OutboundResult *result) {
        return result->error == 0 && (result->status == 0 || result->status / 100 == 2);
}

static void delivery_describe(Delivery *v, const OutboundResult *result) {
        char excerpt[EXCERPT_MAX + 1];

        if (result->error < 0) {
                (void) snprintf(v->last, sizeof(v->last), "%s", result->text);
                return;
        }
        (void) snprintf(excerpt, sizeof(excerpt), "%s", result->body);
        for (char *p = excerpt; *p; p++)
                if ((unsigned char) *p < ' ' || (unsigned char) *p >= 0x7f)
                        *p = ' ';
        (void) snprintf(v->last, sizeof(v->last), "answered %u%s%s", result->status, excerpt[0] ? ": " : "", excerpt);
}

static void note_error(Delivery *v) {
        DeliveryStats *stats = &v->deliveries->stats;

        (void) snprintf(stats->last_error, sizeof(stats->last_error), "%.63s: %.190s", v->target, v->last);
        stats->last_error_at = clock_wall_usec();
}

static void delivery_conclude(Delivery *v, int r) {
        Deliveries *d = v->deliveries;

        if (r >= 0)
                d->stats.delivered++;
        else
                d->stats.failed++;
        delivery_unlink(v);
        v->request = NULL;
        if (v->done)
                v->done(r, v->last, v->attempts, v->userdata);
        delivery_free(v);
}

static usec_t pause_of(const Delivery *v, usec_t asked) {
        usec_t longest = MAX_OF(v->limits.backoff_max_usec, v->limits.backoff_usec), pause = v->limits.backoff_usec;
        uint32_t chance = 0;

        for (unsigned i = 1; i < v->attempts && pause < longest; i++)
                pause *= 2;
        pause = MIN_OF(MAX_OF(pause, asked), longest);
        (void) getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
        return pause + (usec_t) ((double) pause / 10 * chance / UINT32_MAX);
}

static void attempt(Delivery *v);

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata) {
        Delivery *v = userdata;

        v->timer = sd_event_source_disable_unref(v->timer);
        if (v->attempts > 0)
                v->deliveries->stats.retried++;
        attempt(v);
        return 0;
}

static int after(Delivery *v, usec_t pause) {
        return sd_event_add_time_relative(v->deliveries->event, &v->timer, CLOCK_MONOTONIC, pause, USEC_PER_MSEC, on_pause_over, v);
}

static void delivery_settle(Delivery *v, int r, bool again, usec_t asked) {
        if (r >= 0) {
                v->last[0] = 0;
                delivery_conclude(v, 0);
                return;
        }
        note_error(v);
        log_debug("%s: attempt %u of %u: %s", v->target, v->attempts, v->limits.attempts_max, v->last);
        if (!again || v->attempts >= v->limits.attempts_max || after(v, pause_of(v, asked)) < 0)
                delivery_conclude(v, r);
}

static void delivery_on_done(const OutboundResult *result, void *userdata) {
        Delivery *v = userdata;

        v->request = NULL;
        if (is_delivered(result)) {
                delivery_settle(v, 0, false, 0);
                return;
        }
        delivery_describe(v, result);
        delivery_settle(v, result->error < 0 ? result->error : -EREMOTEIO, worth_another(result), result->retry_after_usec);
}

/* A request that cannot be sent at all is not retried. It is retried if too many requests are running, or if
 * memory was short. */
static void attempt(Delivery *v) {
        Error error = { 0 };
        int r;

        v->attempts++;
        r = outbound_send(v->deliveries->outbound, &v->spec, delivery_on_done, v, &v->request, &error);
        if (r >= 0)
                return;
        (void) snprintf(v->last, sizeof(v->last), "%.255s", error.text);
        delivery_settle(v, r, r == -EBUSY || r == -ENOMEM, 0);
}

int delivery_add(Deliveries *d, const char *target, const OutboundSpec *spec, const DeliveryLimits *limits, DeliveryDone done,
                void *userdata, Error *reterr) {
        Delivery *v;
        int r;

        if (spec->body_fd >= 0 || spec->on_data)
                return error_set(reterr, -EINVAL, "%s: a file, or an answer that is read as it comes, cannot be sent again", target);
        if (d->stats.pending >= limits->queue_max) {
                d->stats.refused++;
                return error_set(reterr, -EBUSY, "%s: %u deliveries are waiting, which is the maximum", target, limits->queue_max);
        }
        v = calloc(1, sizeof(*v));
        if (!v)
                return error_set(reterr, -ENOMEM, "out of memory");
        v->deliveries = d;
        v->headers = (Strv) STRV_INIT(HEADERS_MAX);
        v->mail_to = (Strv) STRV_INIT(RECIPIENTS_MAX);
        v->limits = *limits;
        v->done = done;
        v->userdata = userdata;
        (void) snprintf(v->target, sizeof(v->target), "%s", target);
        r = delivery_copy(v, spec, reterr);
        if (r >= 0)
                r = after(v, 0); /* starts from the loop, so that `done` is not called before this function returns */
        if (r < 0) {
                delivery_free(v);
                return r;
        }
        v->next = d->list;
        if (v->next)
                v->next->prev = v;
        d->list = v;
        d->stats.pending++;
        return 0;
}

void deliveries_stats(const Deliveries *d, DeliveryStats *ret) {
        *ret = d->stats;
}
