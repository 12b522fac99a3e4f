/* outbound.c: libcurl's multi handle in the event loop.
 *
 * libcurl says which descriptors and which timer it waits for; the loop watches them and calls libcurl.
 * Requests that have ended are collected after each such call, never from within a callback of libcurl. */

#include "outbound/outbound.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "outbound/internal.h"

#define REQUESTS_MAX    1024
#define CONNECTIONS_MAX 128 /* beyond, requests wait inside libcurl, each within its own time limit */
#define KEPT_MAX        16  /* idle connections kept for later requests */

typedef struct OutboundWatch {
        Outbound *outbound;
        struct OutboundWatch *prev, *next;
        sd_event_source *source;
        int fd;
} OutboundWatch;

struct Outbound {
        sd_event *event;
        void (*before)(void *userdata); /* see outbound_set_before() */
        void *before_data;
        CURLM *multi;
        sd_event_source *timer;
        OutboundRequest *requests;
        unsigned n_requests;
        OutboundWatch *watches;
        bool global; /* curl_global_init() was called */
};

static void request_unlink(OutboundRequest *q) {
        Outbound *o = q->outbound;

        (void) curl_multi_remove_handle(o->multi, q->easy);
        if (q->prev)
                q->prev->next = q->next;
        else
                o->requests = q->next;
        if (q->next)
                q->next->prev = q->prev;
        o->n_requests--;
}

static void outbound_finish(OutboundRequest *q, CURLcode code) {
        OutboundResult result;

        q->finished = true;
        request_result(q, code, &result); /* before the handle is removed: this reads data of its connection */
        request_unlink(q);
        q->done(&result, q->userdata);
        request_free(q);
}

/* A redirect is sent as another request on the same handle. */
static void outbound_ended(OutboundRequest *q, CURLcode code) {
        int r = code == CURLE_OK ? request_follow(q) : 0;

        if (r > 0) {
                (void) curl_multi_remove_handle(q->outbound->multi, q->easy);
                if (curl_multi_add_handle(q->outbound->multi, q->easy) == CURLM_OK)
                        return;
                code = CURLE_OUT_OF_MEMORY;
        }
        outbound_finish(q, r < 0 ? CURLE_ABORTED_BY_CALLBACK : code);
}

static int outbound_on_stall(sd_event_source *source, uint64_t usec, void *userdata) {
        OutboundRequest *q = userdata;
        usec_t now = clock_usec(), until = q->moved_at + q->stall_usec;

        if (now < until) {
                (void) sd_event_source_set_time_relative(source, until - now);
                return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        }
        q->error = -ETIMEDOUT;
        (void) snprintf(q->words, sizeof(q->words), "nothing came for %llu seconds", (unsigned long long) (q->stall_usec / USEC_PER_SEC));
        outbound_finish(q, CURLE_OPERATION_TIMEDOUT);
        return 0;
}

static void outbound_collect(Outbound *o) {
        CURLMsg *message;
        int left;

        while ((message = curl_multi_info_read(o->multi, &left))) {
                OutboundRequest *q = NULL;

                if (message->msg != CURLMSG_DONE)
                        continue;
                (void) curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **) &q);
                outbound_ended(q, message->data.result); /* removing the handle frees the message */
        }
}

static void drive(Outbound *o, curl_socket_t fd, int events) {
        int running;
        CURLMcode rc;

        if (o->before)
                o->before(o->before_data);
        rc = curl_multi_socket_action(o->multi, fd, events, &running);

        if (rc != CURLM_OK)
                log_warning("outbound: %s, ignoring", curl_multi_strerror(rc));
        outbound_collect(o);
}

static int outbound_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        drive(userdata, CURL_SOCKET_TIMEOUT, 0);
        return 0;
}

/* EPOLLERR and EPOLLHUP are not passed on: libcurl then looks at the socket itself, and finds the error. */
static int outbound_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        OutboundWatch *w = userdata;

        drive(w->outbound, fd, (revents & EPOLLIN ? CURL_CSELECT_IN : 0) | (revents & EPOLLOUT ? CURL_CSELECT_OUT : 0));
        return 0;
}

static int on_timer_wanted(CURLM *multi, long msec, void *userdata) {
        Outbound *o = userdata;

        if (msec < 0)
                return sd_event_source_set_enabled(o->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
        if (sd_event_source_set_time_relative(o->timer, (usec_t) msec * USEC_PER_MSEC) < 0)
                return -1;
        return sd_event_source_set_enabled(o->timer, SD_EVENT_ONESHOT) < 0 ? -1 : 0;
}

static void watch_free(OutboundWatch *w) {
        if (w->prev)
                w->prev->next = w->next;
        else
                w->outbound->watches = w->next;
        if (w->next)
                w->next->prev = w->prev;
        sd_event_source_disable_unref(w->source);
        free(w);
}

static OutboundWatch *watch_new(Outbound *o, int fd) {
        OutboundWatch *w = calloc(1, sizeof(*w));

        if (!w)
                return NULL;
        w->outbound = o;
        w->fd = fd;
        if (sd_event_add_io(o->event, &w->source, fd, 0, outbound_on_io, w) < 0) {
                free(w);
                return NULL;
        }
        w->next = o->watches;
        if (w->next)
                w->next->prev = w;
        o->watches = w;
        (void) curl_multi_assign(o->multi, fd, w);
        return w;
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *userdata, void *socket_userdata) {
        Outbound *o = userdata;
        OutboundWatch *w = socket_userdata;
        uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

        if (what == CURL_POLL_REMOVE) {
                if (w)
                        watch_free(w);
                return 0;
        }
        if (!w)
                w = watch_new(o, fd);
        return w && sd_event_source_set_io_events(w->source, events) >= 0 ? 0 : -1;
}

static int multi_setup(Outbound *o) {
        o->multi = curl_multi_init();
        if (!o->multi)
                return -ENOMEM;
        if (curl_multi_setopt(o->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted) != CURLM_OK ||
                        curl_multi_setopt(o->multi, CURLMOPT_SOCKETDATA, o) != CURLM_OK ||
                        curl_multi_setopt(o->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted) != CURLM_OK ||
                        curl_multi_setopt(o->multi, CURLMOPT_TIMERDATA, o) != CURLM_OK ||
                        curl_multi_setopt(o->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long) CONNECTIONS_MAX) != CURLM_OK ||
                        curl_multi_setopt(o->multi, CURLMOPT_MAXCONNECTS, (long) KEPT_MAX) != CURLM_OK)
                return -EOPNOTSUPP;
        return 0;
}

void outbound_set_before(Outbound *o, void (*before)(void *userdata), void *userdata) {
        o->before = before;
        o->before_data = userdata;
}

int outbound_new(sd_event *event, Outbound **ret, Error *reterr) {
        Outbound *o = calloc(1, sizeof(*o));
        int r;

        if (!o)
                return error_set(reterr, -ENOMEM, "out of memory");
        o->event = sd_event_ref(event);
        o->global = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
        r = o->global ? sd_event_add_time_relative(event, &o->timer, CLOCK_MONOTONIC, 0, 0, outbound_on_timer, o) : -EOPNOTSUPP;
        if (r >= 0)
                r = sd_event_source_set_enabled(o->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = multi_setup(o);
        if (r < 0) {
                outbound_free(o);
                return error_set(reterr, r, "cannot set libcurl up: %m");
        }
        *ret = o;
        return 0;
}

Outbound *outbound_free(Outbound *o) {
        if (!o)
                return NULL;
        while (o->requests)
                outbound_cancel(o->requests);
        (void) curl_multi_cleanup(o->multi);
        while (o->watches)
                watch_free(o->watches);
        sd_event_source_disable_unref(o->timer);
        sd_event_unref(o->event);
        if (o->global)
                curl_global_cleanup();
        free(o);
        return NULL;
}

static int request_link(Outbound *o, OutboundRequest *q) {
        int r = q->stall_usec == 0 ? 0 : sd_event_add_time_relative(o->event, &q->stall, CLOCK_MONOTONIC, q->stall_usec, USEC_PER_MSEC, outbound_on_stall, q);

        if (r < 0)
                return r;
        if (curl_multi_add_handle(o->multi, q->easy) != CURLM_OK)
                return -ENOMEM;
        q->outbound = o;
        q->next = o->requests;
        if (q->next)
                q->next->prev = q;
        o->requests = q;
        o->n_requests++;
        return 0;
}

int outbound_send(Outbound *o, const OutboundSpec *spec, OutboundDone done, void *userdata, OutboundRequest **ret, Error *reterr) {
        OutboundRequest *q;
        int r;

        r = request_new(spec, &q, reterr);
        if (r < 0)
                return r;
        q->done = done;
        q->userdata = userdata;
        if (o->n_requests >= REQUESTS_MAX)
                r = error_set(reterr, -EBUSY, "%u outgoing requests are in progress, which is the maximum", o->n_requests);
        else
                r = request_link(o, q);
        if (r < 0) {
                request_free(q);
                return r;
        }
        if (ret)
                *ret = q;
        return 0;
}

void outbound_cancel(OutboundRequest *q) {
        if (!q || q->finished)
                return;
        request_unlink(q);
        request_free(q);
}

uint64_t outbound_sent(const OutboundRequest *q) {
        return q->sent;
}
