#include "registry/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "registry/exchange-internal.h"

#define REDIRECTS_MAX 5
#define HEADERS_MAX   8
#define TURN_USEC     (250 * USEC_PER_MSEC) /* interval of progress reports of uploads */

struct Exchanges {
        sd_event *event;
        Outbound *outbound;
        ExchangeSettings settings;
        Exchange *running, *over;
};

int exchanges_new(const ExchangeSettings *settings, Exchanges **ret, Error *reterr) {
        Exchanges *e = calloc(1, sizeof(*e));
        int r;

        if (!e)
                return error_set(reterr, -ENOMEM, "out of memory");
        e->settings = *settings;
        r = sd_event_new(&e->event);
        r = r < 0 ? error_set(reterr, r, "cannot make a loop: %m") : outbound_new(e->event, &e->outbound, reterr);
        if (r < 0) {
                exchanges_free(e);
                return r;
        }
        *ret = e;
        return 0;
}

Exchanges *exchanges_free(Exchanges *e) {
        if (!e)
                return NULL;
        while (e->running)
                exchange_stop(e->running);
        while (e->over)
                exchange_stop(e->over);
        outbound_free(e->outbound);
        sd_event_unref(e->event);
        free(e);
        return NULL;
}

void exchanges_freep(Exchanges **e) {
        *e = exchanges_free(*e);
}

static void exchange_unlink(Exchange **list, const Exchange *x) {
        for (Exchange **p = list; *p; p = &(*p)->next)
                if (*p == x) {
                        *p = x->next;
                        return;
                }
}

void exchange_stop(Exchange *x) {
        if (!x->exchanges)
                return;
        outbound_cancel(x->request);
        exchange_unlink(x->request ? &x->exchanges->running : &x->exchanges->over, x);
        x->request = NULL;
        x->exchanges = NULL;
}

void exchange_done(Exchange *x) {
        exchange_stop(x);
        text_done(&x->answer);
}

static void exchange_on_end(const OutboundResult *result, void *userdata) {
        Exchange *x = userdata;

        x->sent = outbound_sent(x->request);
        x->request = NULL;
        x->retry_after = result->retry_after_usec;
        if (result->error == 0)
                x->status = (int) result->status;
        else if (!x->cut) { /* else we have stopped it ourselves, with enough data */
                x->error = result->error;
                (void) snprintf(x->words, sizeof(x->words), "%s", result->text);
        }
        exchange_unlink(&x->exchanges->running, x);
        x->next = x->exchanges->over;
        x->exchanges->over = x;
}

/* A header may contain a password. */
static void exchange_forget_headers(char *headers[static HEADERS_MAX]) {
        for (size_t i = 0; i < HEADERS_MAX && headers[i]; i++) {
                explicit_bzero(headers[i], strlen(headers[i]));
                free(headers[i]);
        }
}

static int exchange_make_headers(const Exchange *x, char *ret[static HEADERS_MAX]) {
        char range[32];
        const struct {
                const char *name, *value;
        } all[] = {
                { "User-Agent",    "cove-registry"           },
                { "Authorization", x->authorization          },
                { "Accept",        x->accept                 },
                { "Content-Type",  x->content_type           },
                { "Range",         x->from > 0 ? range : NULL },
                { "Expect",        x->has_body ? "" : NULL   }, /* removed: many registries do not answer it */
        };
        size_t n = 0;

        (void) snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long) x->from);
        for (size_t i = 0; i < ELEMENTSOF(all); i++)
                if (all[i].value && asprintf(ret + n++, "%s:%s%s", all[i].name, *all[i].value ? " " : "", all[i].value) < 0) {
                        ret[n - 1] = NULL;
                        return -ENOMEM;
                }
        return 0;
}

/* The caller may name any registry. A registry must not redirect us to services of this machine or to a
 * cloud's metadata address. */
static int exchange_send(Exchanges *e, Exchange *x, const char *const *headers, Error *reterr) {
        const ExchangeSettings *s = &e->settings;
        const IpReach elsewhere = s->inside ? IP_REACH_ALL : IP_REACH_OUTSIDE;
        const OutboundSpec spec = {
                .method = x->method ? x->method : "GET",
                .url = x->url,
                .headers = headers,
                .body = x->body,
                .size = x->body ? (size_t) x->body_size : 0,
                .body_fd = x->body_fd >= 0 ? fcntl(x->body_fd, F_DUPFD_CLOEXEC, 3) : -EBADF,
                .reach = x->elsewhere ? elsewhere : s->outside ? IP_REACH_OUTSIDE : IP_REACH_ALL,
                .reach_elsewhere = elsewhere,
                .redirects_max = REDIRECTS_MAX,
                .proxy = true,
                .ca = s->ca,
                .unchecked = s->unchecked,
                .timeout_usec = USEC_INFINITY,
                .stall_usec = s->stall_usec,
                .on_header = exchange_on_header,
                .on_data = exchange_on_data,
        };

        if (x->body_fd >= 0 && spec.body_fd < 0)
                return error_set(reterr, -errno, "the body's file: %m");
        return outbound_send(e->outbound, &spec, exchange_on_end, x, &x->request, reterr);
}

int exchange_start(Exchanges *e, Exchange *x, Error *reterr) {
        char *headers[HEADERS_MAX] = { 0 };
        int r;

        text_done(&x->answer);
        x->answer = (Text) TEXT_INIT(MAX_OF(x->answer_max, (size_t) 4096));
        x->error = x->status = 0;
        x->words[0] = 0;
        x->cut = false;
        x->sent = 0;
        x->length = x->range_from = UINT64_MAX;
        x->challenge[0] = x->location[0] = x->digest[0] = x->type[0] = 0;
        r = exchange_make_headers(x, headers);
        if (r >= 0)
                r = exchange_send(e, x, (const char *const *) headers, reterr);
        exchange_forget_headers(headers);
        if (r < 0)
                return error_prefix(reterr, r, "'%.200s' cannot be asked", x->url);
        x->exchanges = e;
        x->next = e->running;
        e->running = x;
        return 0;
}

Exchange *exchanges_wait(Exchanges *e, usec_t timeout_usec) {
        usec_t now = clock_usec(), until = now + timeout_usec;
        Exchange *x;

        while (!e->over && now < until) {
                (void) sd_event_run(e->event, MIN_OF(until - now, TURN_USEC));
                now = clock_usec();
        }
        for (x = e->running; x; x = x->next)
                x->sent = outbound_sent(x->request);
        x = e->over;
        if (x) {
                e->over = x->next;
                x->exchanges = NULL;
        }
        return x;
}
