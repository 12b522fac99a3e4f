/* A command over plain HTTP: one request starts the command, streams its events, and is bound to it, so that
 * the command ends when the client goes away. Short requests beside it carry input, signals and window sizes.
 *
 * If the daemon restarts meanwhile, the command lives on: the client reconnects and continues the output
 * where it broke off. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/execution/events.h"
#include "client/http/link.h"

#define EXECUTION       "/api/sandbox/%/exec/%"
#define SIGNALS_MAX     16
#define RECONNECT_PAUSE (200 * USEC_PER_MSEC)
#define RECONNECT_MAX   (30 * USEC_PER_SEC)

typedef struct LinkHttp {
        Link link;
        Call events;
        EventReader reader;
        Answer refusal; /* the body of a failing answer */
        char *body;     /* of the request that starts it */
        bool follow;
        uint64_t seen[2]; /* bytes of each stream that were passed on */
        usec_t lost_at;   /* 0: connected */
        usec_t retry_at;

        Call input;
        Answer input_answer;
        bool input_over; /* the command no longer reads input, or its end has been sent */

        Call control;
        int signals[SIGNALS_MAX]; /* to be sent, the oldest first */
        unsigned n_signals;
        bool resized;
        unsigned columns, rows;
} LinkHttp;

static LinkHttp *link_http_of(Link *l) {
        return (LinkHttp *) l;
}

static const LinkHttp *of_const(const Link *l) {
        return (const LinkHttp *) l;
}

/* Output that was passed on before the connection broke comes again, and is skipped. */
static int link_http_take_output(LinkHttp *h, const Event *e) {
        unsigned stream = e->kind == EVENT_STDERR;
        const char *data = e->data;
        size_t size = e->size;

        if (e->offset < h->seen[stream]) {
                uint64_t known = h->seen[stream] - e->offset;

                if (known >= size)
                        return 0;
                data += known;
                size -= (size_t) known;
        }
        h->seen[stream] = e->offset + e->size;
        return h->link.handlers.output(h->link.handlers.userdata, stream, data, size);
}

static int link_http_take_event(void *userdata, const Event *e) {
        LinkHttp *h = userdata;

        if (h->link.end)
                return 0;
        if (e->kind == EVENT_STDOUT || e->kind == EVENT_STDERR)
                return link_http_take_output(h, e);
        if (e->kind == EVENT_START && !h->link.execution && json_get_text(e->json, "id"))
                return link_begin(&h->link, json_get_text(e->json, "id"));
        if (e->kind == EVENT_EXIT)
                h->link.end = json_incref((json_t *) e->json);
        return 0;
}

static int link_http_take_body(void *userdata, const void *data, size_t size) {
        LinkHttp *h = userdata;

        if (h->events.answer.status == 200)
                return event_reader_feed(&h->reader, data, size);
        return answer_collect(&h->refusal, data, size);
}

static int connect_events(LinkHttp *h, Error *reterr) {
        bool again = h->link.execution;
        _cleanup_url_ Url u = again ? url_of("/api/sandbox/%s/exec/%s/output?follow=%s", h->link.sandbox,
                                                      h->link.execution, h->follow ? "1" : "0")
                                    : url_of("/api/sandbox/%s/exec", h->link.sandbox);
        Request q = REQUEST(.path = url_text(&u), .accept = "application/x-ndjson",
                        .sink = link_http_take_body, .sink_data = h);
        char cursor[96];

        if (again) {
                (void) snprintf(cursor, sizeof(cursor), "Last-Event-ID: %llu:%llu\r\n", (unsigned long long) h->seen[0],
                                (unsigned long long) h->seen[1]);
                q.headers = cursor;
        } else {
                q.method = "POST";
                q.type = "application/json";
                q.body = h->body;
                q.body_size = strlen(h->body);
        }
        answer_done(&h->refusal);
        h->reader.lines.size = 0;
        return call_start(&h->events, h->link.place, &q, reterr);
}

/* Plans to connect again a little later. False: it has tried for long enough. */
static bool plan_retry(LinkHttp *h) {
        usec_t now = clock_usec();

        call_done(&h->events);
        if (h->lost_at == 0)
                h->lost_at = now;
        h->retry_at = now + RECONNECT_PAUSE;
        return now < h->lost_at + RECONNECT_MAX;
}

/* The connection is lost. Returns 0 to try again, or the error if that is useless: a command that has not
 * started is unknown to the daemon. */
static int link_http_retry(LinkHttp *h, int error, Error *reterr) {
        if (!h->link.execution)
                return error;
        if (!plan_retry(h))
                return error_prefix(reterr, error, "command %s of sandbox %s may go on, but the daemon does not answer",
                                h->link.execution, h->link.sandbox);
        *reterr = (Error) { 0 };
        return 0;
}

/* Handles a complete answer that is not a stream of events. */
static int link_http_take_refusal(LinkHttp *h, Error *reterr) {
        Answer *a = &h->refusal;

        a->head.status = h->events.answer.status;
        answer_parse(a);
        if (a->head.status == 503 && (h->link.execution || answer_has_code(a, "recovering")) && plan_retry(h))
                return 0;
        h->link.gone = a->head.status == 404 && h->lost_at > 0;
        return link_refuse(&h->link, a, reterr);
}

/* The stream has ended: with the exit event, or because only existing output was asked for, or too early. */
static int events_over(LinkHttp *h, Error *reterr) {
        if (h->link.end)
                return 1;
        if (h->events.answer.status != 200)
                return link_http_take_refusal(h, reterr);
        if (h->link.execution && !h->follow)
                return 1;
        return link_http_retry(h, error_set(reterr, -ECONNRESET, "the daemon ended the stream before the command's end"), reterr);
}

static int step_events(LinkHttp *h, const struct pollfd *polls, Error *reterr) {
        int r;

        if (!call_is_open(&h->events)) {
                if (clock_usec() < h->retry_at)
                        return 0;
                r = connect_events(h, reterr);
                return r < 0 ? link_http_retry(h, r, reterr) : 0;
        }
        r = call_step(&h->events, polls, reterr);
        if (http_reader_has_head(&h->events.answer) && h->events.answer.status == 200)
                h->lost_at = 0;
        if (r == -ECONNRESET && !h->link.end)
                return link_http_retry(h, r, reterr);
        if (h->link.end)
                return 1;
        if (r != 0)
                return r < 0 ? r : events_over(h, reterr);
        return 0;
}

/* Begins a short request beside the stream. Its answer is collected in *ret, or dropped. */
static int post(LinkHttp *h, Call *c, const char *path, const char *type, const void *body, size_t size, Answer *ret) {
        _cleanup_url_ Url u = url_fill(path, (char *const[]) { h->link.sandbox, h->link.execution });

        return call_start(c, h->link.place,
                        &REQUEST(.method = "POST", .path = url_text(&u), .type = type, .body = body,
                                        .body_size = size, .accept = "application/json",
                                        .sink = ret ? answer_collect : NULL, .sink_data = ret),
                        /* reterr= */ NULL);
}

/* The daemon has taken a piece of input, or reports that the command reads no more. */
static void input_answered(LinkHttp *h) {
        const Answer *a = &h->input_answer;
        _cleanup_json_ json_t *j = a->size > 0 ? json_parse(a->text, a->size, /* reterr= */ NULL) : NULL;

        if (h->input.answer.status != 200 || json_get_bool(j, "exited"))
                h->input_over = true;
        call_done(&h->input);
        answer_done(&h->input_answer);
}

static void link_http_step_input(LinkHttp *h, const struct pollfd *polls) {
        int r;

        if (!call_is_open(&h->input))
                return;
        r = call_step(&h->input, polls, /* reterr= */ NULL);
        if (r > 0)
                input_answered(h);
        else if (r < 0) { /* the daemon went away meanwhile: how much arrived is unknown, so no more is sent */
                log_warning("the connection for the input broke off: the command gets no more input");
                call_done(&h->input);
                h->input_over = true;
        }
}

static int link_http_send_signal(LinkHttp *h) {
        char body[64];
        int n = snprintf(body, sizeof(body), "{\"signal\":%d}", h->signals[0]);

        memmove(h->signals, h->signals + 1, --h->n_signals * sizeof(h->signals[0]));
        return post(h, &h->control, EXECUTION "/signal", "application/json", body, (size_t) n, /* ret= */ NULL);
}

static int send_size(LinkHttp *h) {
        char body[64];
        int n = snprintf(body, sizeof(body), "{\"cols\":%u,\"rows\":%u}", h->columns, h->rows);

        h->resized = false;
        return post(h, &h->control, EXECUTION "/resize", "application/json", body, (size_t) n, /* ret= */ NULL);
}

static void step_control(LinkHttp *h, const struct pollfd *polls) {
        if (call_is_open(&h->control) && call_step(&h->control, polls, /* reterr= */ NULL) != 0)
                call_done(&h->control);
        if (call_is_open(&h->control) || !h->link.execution)
                return;
        if (h->n_signals > 0)
                (void) link_http_send_signal(h);
        else if (h->resized)
                (void) send_size(h);
}

static void link_http_poll(Link *l, struct pollfd ret[static LINK_POLLS]) {
        LinkHttp *h = link_http_of(l);
        Call *const calls[] = { &h->events, &h->input, &h->control };

        h->events.paused = h->link.handlers.is_full(h->link.handlers.userdata);
        for (size_t i = 0; i < ELEMENTSOF(calls); i++)
                if (call_is_open(calls[i]))
                        call_poll(calls[i], ret + i * CALL_POLLS);
                else
                        ret[i * CALL_POLLS] = ret[i * CALL_POLLS + 1] = (struct pollfd) { .fd = -1 };
}

static int link_http_step(Link *l, const struct pollfd polls[static LINK_POLLS], Error *reterr) {
        LinkHttp *h = link_http_of(l);

        link_http_step_input(h, polls + CALL_POLLS);
        step_control(h, polls + 2 * CALL_POLLS);
        return step_events(h, polls, reterr);
}

static int link_http_timeout(const Link *l) {
        const LinkHttp *h = of_const(l);
        usec_t now = clock_usec();

        if (call_is_open(&h->events))
                return -1;
        return now >= h->retry_at ? 0 : (int) ((h->retry_at - now) / USEC_PER_MSEC) + 1;
}

static bool link_http_takes_input(const Link *l) {
        const LinkHttp *h = of_const(l);
        return l->execution && !h->input_over && !call_is_open(&h->input);
}

static int link_http_input(Link *l, const void *data, size_t size) {
        LinkHttp *h = link_http_of(l);
        int r;

        if (size > 0)
                r = post(h, &h->input, EXECUTION "/stdin", "application/octet-stream", data, size, &h->input_answer);
        else {
                r = post(h, &h->input, EXECUTION "/stdin/close", "application/json", "{}", 2, /* ret= */ NULL);
                h->input_over = true;
        }
        if (r < 0)
                h->input_over = true;
        return r;
}

static int link_http_signal(Link *l, int signal) {
        LinkHttp *h = link_http_of(l);

        if (h->n_signals == SIGNALS_MAX)
                return -EAGAIN;
        h->signals[h->n_signals++] = signal;
        return 0;
}

static int link_http_resize(Link *l, unsigned columns, unsigned rows) {
        LinkHttp *h = link_http_of(l);

        h->columns = columns;
        h->rows = rows;
        h->resized = true;
        return 0;
}

static void link_http_done(Link *l) {
        LinkHttp *h = link_http_of(l);

        call_done(&h->events);
        call_done(&h->input);
        call_done(&h->control);
        answer_done(&h->refusal);
        answer_done(&h->input_answer);
        event_reader_done(&h->reader);
        free(h->body);
}

static const LinkOps link_http_ops = LINK_OPS(link_http, LinkHttp);

static LinkHttp *link_http_make(const Place *place, const char *sandbox, const char *execution, bool follow) {
        LinkHttp *h = link_make(&link_http_ops, place, sandbox, execution);

        if (!h)
                return NULL;
        h->events = h->input = h->control = (Call) CALL_INIT;
        h->reader = (EventReader) { .event = link_http_take_event, .userdata = h };
        h->follow = follow;
        return h;
}

Link *link_http_new(const Place *place, const char *sandbox, char *body) {
        LinkHttp *h = link_http_make(place, sandbox, /* execution= */ NULL, /* follow= */ true);

        if (!h) {
                free(body);
                return NULL;
        }
        h->body = body;
        return &h->link;
}

Link *link_http_follow(const Place *place, const char *sandbox, const char *execution, bool follow) {
        LinkHttp *h = link_http_make(place, sandbox, execution, follow);

        if (!h)
                return NULL;
        h->input_over = true;
        return &h->link;
}
