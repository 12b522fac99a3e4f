#include "gate/http/http.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/log.h"
#include "gate/http/http-internal.h"
#include "gate/memory.h"

#define ROUNDS_MAX  16 /* then others have their turn */
#define TIMER_SLACK (50 * USEC_PER_MSEC)

static int step_greet(HttpExchange *x);
static int step_wait(HttpExchange *x) {
        return 0;
}

static const struct {
        int (*run)(HttpExchange *x);
        usec_t timeout; /* 0: none of its own */
} steps[_HTTP_STEP_MAX] = {
        [HTTP_STEP_GREET] = { step_greet, HTTP_GREET_USEC },
        [HTTP_STEP_HEAD] = { http_step_head, HTTP_IDLE_USEC },
        [HTTP_STEP_ASK] = { step_wait, 0 },
        [HTTP_STEP_CONNECT] = { http_step_connect, HTTP_CONNECT_USEC },
        [HTTP_STEP_COLLECT] = { http_step_collect, HTTP_COLLECT_USEC },
        [HTTP_STEP_PASS] = { http_step_pass, 0 },
        [HTTP_STEP_TUNNEL] = { http_step_tunnel, 0 },
        [HTTP_STEP_DRAIN] = { http_step_drain, HTTP_DRAIN_USEC },
        [HTTP_STEP_OVER] = { step_wait, 0 },
};

/* Time. */

static bool has_deadline(const HttpExchange *x) {
        return x->asked.deadline > 0 && (x->step == HTTP_STEP_CONNECT || x->step == HTTP_STEP_COLLECT || x->step == HTTP_STEP_PASS);
}

static int gate_http_on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        HttpExchange *x = userdata;

        share_works(x->sandbox);
        if (has_deadline(x) && clock_usec() >= x->asked.deadline)
                (void) http_deny_because(x, EGRESS_TIMEOUT);
        else if (x->step == HTTP_STEP_CONNECT)
                (void) http_fail(x, "it does not answer in time");
        else
                http_over(x);
        http_pump(x);
        return 0;
}

void http_go(HttpExchange *x, HttpStep step) {
        usec_t at = steps[step].timeout > 0 ? clock_usec() + steps[step].timeout : USEC_INFINITY;

        x->step = step;
        if (has_deadline(x))
                at = MIN_OF(at, x->asked.deadline);
        if (step == HTTP_STEP_HEAD && x->head_begun)
                at = clock_usec() + HTTP_HEAD_USEC;
        if (step == HTTP_STEP_DRAIN && !x->drain_sent) /* the guest may be slow to take it */
                at = clock_usec() + HTTP_IDLE_USEC;
        if (at == USEC_INFINITY) {
                (void) sd_event_source_set_enabled(x->timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time(x->timer, at);
        (void) sd_event_source_set_enabled(x->timer, SD_EVENT_ONESHOT);
}

/* Steps. */

void http_over(HttpExchange *x) {
        x->ask = ask_cancel(x->ask);
        x->dial = dial_free(x->dial);
        http_go(x, HTTP_STEP_OVER);
}

static int step_greet(HttpExchange *x) {
        Error error = { 0 };
        int r = stream_shake(x->guest, &error);

        if (r == -EAGAIN)
                return 0;
        if (r < 0) {
                log_sandbox("debug", x->sandbox->id, "TLS of the guest to %s: %s", x->host, error.text);
                http_over(x);
                return 1;
        }
        http_go(x, HTTP_STEP_HEAD);
        return 1;
}

int http_next_request(HttpExchange *x) {
        http_asked_done(x);
        x->head_begun = false;
        http_go(x, HTTP_STEP_HEAD);
        return 1;
}

/* Bytes are counted where they leave for the world and where they arrive from it. */
bool http_count_up(HttpExchange *x, size_t size) {
        if (gate_count_bytes(x->sandbox, size, 0))
                return true;
        (void) http_deny_told(x, EGRESS_TOTAL);
        return false;
}

static bool fill_upstream(HttpExchange *x) {
        size_t before = stream_size(x->upstream);
        bool moved = stream_fill(x->upstream);

        if (moved && !gate_count_bytes(x->sandbox, 0, stream_size(x->upstream) - before))
                (void) http_deny_told(x, EGRESS_TOTAL);
        return moved;
}

/* While a response of the gate's own is being sent, upstream no longer matters. */
static bool upstream_counts(const HttpExchange *x) {
        return x->upstream && x->step != HTTP_STEP_DRAIN && x->step != HTTP_STEP_OVER;
}

/* Decides a request under way by the changed policy. If it is denied, its response may end in the middle. */
static void decide_anew(HttpExchange *x) {
        EgressVerdict v;

        if (!x->policy_changed || x->step < HTTP_STEP_CONNECT || x->step > HTTP_STEP_TUNNEL)
                return;
        x->policy_changed = false;
        v = gate_decide(x->sandbox, &x->asked.question);
        if (v.action == EGRESS_DENY)
                (void) http_deny(x, &v);
        else if (v.action == EGRESS_ASK && !http_is_approved(x))
                (void) http_deny_because(x, EGRESS_NOT_APPROVED);
}

static bool pump_once(HttpExchange *x) {
        bool moved = false;

        decide_anew(x);
        moved |= stream_fill(x->guest);
        if (upstream_counts(x))
                moved |= fill_upstream(x);
        moved |= steps[x->step].run(x) > 0;
        moved |= stream_flush(x->guest);
        if (x->upstream)
                moved |= stream_flush(x->upstream);
        if (x->guest->error < 0 && x->step != HTTP_STEP_OVER) {
                http_over(x);
                moved = true;
        }
        return moved;
}

static void http_watch(HttpExchange *x) {
        bool waits = x->step == HTTP_STEP_HEAD || x->step == HTTP_STEP_DRAIN || stream_size(x->guest) < STREAM_PIECE;

        if (stream_watch(x->guest, waits) < 0 || (x->upstream && stream_watch(x->upstream, upstream_counts(x)) < 0))
                http_over(x);
}

static size_t http_held(const HttpExchange *x) {
        return sizeof(*x) + stream_held(x->guest) + stream_held(x->upstream) + x->asked.head.size + x->asked.body.room +
               credential_filter_size(x->asked.find) + credential_filter_size(x->asked.fill) + credential_filter_size(x->answered.mask) +
               credential_filter_size(x->tunnel_mask);
}

static void weigh(HttpExchange *x) {
        const EgressVerdict v = { .action = EGRESS_DENY, .reason = EGRESS_MEMORY, .rule = -1 };
        EgressQuestion q = x->asked.question;

        if (memory_hold(x->sandbox, &x->held, http_held(x)) || x->step == HTTP_STEP_OVER)
                return;
        if (!q.has_address)
                q = (EgressQuestion) {
                        .protocol = x->tls ? EGRESS_HTTPS : EGRESS_HTTP, .host = *x->host ? x->host : NULL, .has_address = true, .address = x->address, .port = x->port
                };
        gate_tell_denied(x->sandbox, &v, &q);
        http_cut(x); /* a response would take memory, too */
}

static int gate_http_on_again(sd_event_source *source, void *userdata);

static void gate_http_again(HttpExchange *x) {
        (void) share_again(x->sandbox->gate->event, &x->again, gate_http_on_again, x);
}

void http_pump(HttpExchange *x) {
        bool moved = true;

        x->masked = 0;
        for (unsigned i = 0; i < (x->sandbox->share.is_late ? 1 : ROUNDS_MAX) && moved && x->step != HTTP_STEP_OVER && x->masked < HTTP_MASK_MAX; i++)
                moved = pump_once(x);
        if (x->step != HTTP_STEP_OVER)
                http_watch(x);
        weigh(x);
        /* Over: the loop reports the end. Not done yet: others have their turn first. */
        if (x->step == HTTP_STEP_OVER || moved)
                gate_http_again(x);
}

static void gate_http_work(void *userdata) {
        http_pump(userdata);
}

/* While the exchange waits for its turn, no socket is watched: one that is ready would be reported again and
 * again. */
void http_enter(HttpExchange *x) {
        if (share_enter(x->sandbox, &x->turn)) {
                http_pump(x);
                return;
        }
        stream_rest(x->guest);
        if (x->upstream)
                stream_rest(x->upstream);
}

static int gate_http_on_again(sd_event_source *source, void *userdata) {
        HttpExchange *x = userdata;

        if (x->step != HTTP_STEP_OVER) {
                http_enter(x);
                return 0;
        }
        share_works(x->sandbox);
        (void) sd_event_source_set_enabled(x->again, SD_EVENT_OFF);
        x->done(x, x->userdata); /* frees it */
        return 0;
}

static void gate_http_on_stream(void *userdata) {
        http_enter(userdata);
}

/* Coming and going. */

static int start_tls(HttpExchange *x, int fd, TlsSession **ret) {
        Gate *g = x->sandbox->gate;
        Error error = { 0 };
        int r = 0;

        if (!g->tls)
                r = tls_new(NULL, &g->tls, &error);
        if (r >= 0 && !x->sandbox->authority)
                r = authority_new(g->seed, x->sandbox->id, &x->sandbox->authority, &error);
        if (r >= 0)
                r = tls_accept(g->tls, x->sandbox->authority, x->host, fd, ret);
        if (r < 0)
                log_sandbox("warning", x->sandbox->id, "TLS to %s cannot be opened: %s", x->host, *error.text ? error.text : strerror(-r));
        return r;
}

static int gate_http_start_stream(HttpExchange *x, int fd) {
        _cleanup_close_ int owned = fd;
        TlsSession *tls = NULL;
        int r;

        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
        if (x->tls) {
                r = start_tls(x, fd, &tls);
                if (r < 0)
                        return r;
        }
        return stream_new(x->sandbox->gate->event, TAKE_FD(owned), tls, &x->sandbox->up, gate_http_on_stream, x, &x->guest);
}

static int start_sources(HttpExchange *x) {
        sd_event *e = x->sandbox->gate->event;
        int r;

        r = sd_event_add_time(e, &x->timer, CLOCK_MONOTONIC, USEC_INFINITY, TIMER_SLACK, gate_http_on_time, x);
        if (r >= 0)
                r = share_again(e, &x->again, gate_http_on_again, x); /* at once: bytes are there */
        return r;
}

int http_start(const HttpStart *start, void (*done)(HttpExchange *x, void *userdata), void *userdata, HttpExchange **ret) {
        _cleanup_close_ int fd = start->fd;
        HttpExchange *x;
        int r;

        assert(start->sandbox);
        assert(done);
        assert(ret);

        if (start->tls && (!start->host || strlen(start->host) >= EGRESS_DOMAIN_MAX))
                return -EINVAL;
        x = calloc(1, sizeof(HttpExchange));
        if (!x)
                return -ENOMEM;
        *x = (HttpExchange) {
                .sandbox = start->sandbox, .tls = start->tls, .approved = start->approved, .address = start->address, .port = start->port, .done = done,
                .userdata = userdata, .turn = { .work = gate_http_work, .userdata = x },
        };
        if (start->tls) {
                strcpy(x->host, start->host);
                strcpy(x->approved_host, start->host);
        }
        r = start_sources(x);
        if (r >= 0)
                r = gate_http_start_stream(x, TAKE_FD(fd));
        if (r < 0) {
                (void) http_free(x);
                return r;
        }
        http_go(x, x->tls ? HTTP_STEP_GREET : HTTP_STEP_HEAD);
        *ret = x;
        return 0;
}

HttpExchange *http_free(HttpExchange *x) {
        if (!x)
                return NULL;
        share_leave(x->sandbox, &x->turn);
        (void) memory_hold(x->sandbox, &x->held, 0);
        http_asked_done(x);
        ask_cancel(x->ask);
        dial_free(x->dial);
        stream_free(x->guest);
        stream_free(x->upstream);
        credential_filter_free(x->tunnel_mask);
        credentials_free(x->credentials);
        sd_event_source_disable_unref(x->timer);
        sd_event_source_disable_unref(x->again);
        free(x);
        return NULL;
}

/* A request is decided by the policy of its time, and once more when the policy changes under way. */
void http_policy_changed(HttpExchange *x) {
        assert(x);

        x->policy_changed = true;
        gate_http_again(x);
}
