#include "gate/relay/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "gate/relay/bucket.h"
#include "gate/relay/pipe.h"
#include "gate/share.h"

#define TURN_BYTES  (4 << 20) /* then others have their turn */
#define PIECE_BYTES (1 << 20)
#define TIMER_SLACK (5 * USEC_PER_MSEC)

/* The sources are edge-triggered and stay registered for the life of the relay, which saves a system call
 * per change of interest. So the state of a socket is kept: it is readable (or writable) until it returns
 * EAGAIN. */
typedef struct Side {
        Relay *relay;
        int fd;
        sd_event_source *source;
        bool readable, writable;
} Side;

/* One direction. */
typedef struct RelayStream {
        Side *from, *to;
        Pipe pipe;
        size_t held; /* in the pipe */
        bool ended;  /* nothing more comes */
        bool closed; /* the end has been passed on */
        bool up;
        bool waits;  /* for its bucket */
        struct Bucket **bucket; /* the sandbox's; a change of policy may add or remove it */
} RelayStream;

struct Relay {
        GateSandbox *sandbox;
        Side guest, upstream;
        RelayStream streams[2];
        sd_event_source *turn;  /* continues after a full turn */
        sd_event_source *timer; /* waits for a bucket to fill */
        sd_event_source *silence;
        ShareTurn share;
        void (*done)(RelayEnd end, void *userdata);
        void *userdata;
};

typedef enum RelayStep {
        STEP_WAIT,  /* for one of the sockets, or for a bucket */
        STEP_TURN,  /* can continue */
        STEP_ENDED, /* this direction is over */
        STEP_FAILED,
        STEP_TOTAL,
} RelayStep;

/* Bytes count when they are read from a socket, whether they reach the other one or not. */
static bool relay_count(RelayStream *st, size_t n) {
        Relay *r = st->from->relay;

        if (!st->up)
                r->silence = sd_event_source_disable_unref(r->silence);
        return gate_count_bytes(r->sandbox, st->up ? n : 0, st->up ? 0 : n);
}

/* Fills only an empty pipe, so that EAGAIN can only mean that the socket has no bytes. */
static RelayStep relay_fill(RelayStream *st) {
        size_t allowed;
        ssize_t n;

        if (!st->from->readable)
                return STEP_WAIT;
        allowed = bucket_take(*st->bucket, PIECE_BYTES, clock_usec());
        st->waits = allowed == 0;
        if (st->waits)
                return STEP_WAIT;
        if (!pipe_is(&st->pipe) && pipe_lend(&st->pipe) < 0)
                return STEP_FAILED;
        do
                n = splice(st->from->fd, NULL, st->pipe.fds[1], NULL, allowed, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        while (n < 0 && errno == EINTR);
        bucket_give_back(*st->bucket, n > 0 ? allowed - (size_t) n : allowed);
        if (n < 0 && errno == EAGAIN) {
                st->from->readable = false;
                return STEP_WAIT;
        }
        if (n < 0)
                return STEP_FAILED;
        st->ended = n == 0;
        st->held = (size_t) n;
        return relay_count(st, st->held) ? STEP_TURN : STEP_TOTAL;
}

static RelayStep gate_relay_drain(RelayStream *st) {
        while (st->held > 0) {
                ssize_t n = splice(st->pipe.fds[0], NULL, st->to->fd, NULL, st->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN) {
                        st->to->writable = false;
                        return STEP_WAIT;
                }
                if (n <= 0)
                        return STEP_FAILED;
                st->held -= (size_t) n;
        }
        return STEP_TURN;
}

static RelayStep end_stream(RelayStream *st) {
        pipe_return(&st->pipe, /* is_empty= */ true);
        if (!st->closed && shutdown(st->to->fd, SHUT_WR) < 0 && errno != ENOTCONN)
                return STEP_FAILED;
        st->closed = true;
        return STEP_ENDED;
}

static RelayStep stream_step(RelayStream *st) {
        if (st->closed)
                return STEP_ENDED;
        if (st->held > 0)
                return st->to->writable ? gate_relay_drain(st) : STEP_WAIT;
        return st->ended ? end_stream(st) : relay_fill(st);
}

static RelayStep stream_run(RelayStream *st) {
        RelayStep step;
        size_t moved = 0;

        do {
                step = stream_step(st);
                moved += st->held;
        } while (step == STEP_TURN && moved < TURN_BYTES);
        if (step == STEP_WAIT && st->held == 0)
                pipe_return(&st->pipe, /* is_empty= */ true);
        return step;
}

static int gate_relay_enter(Relay *r);

static int relay_on_turn(sd_event_source *source, void *userdata) {
        return gate_relay_enter(userdata);
}

static int relay_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        return gate_relay_enter(userdata);
}

static int schedule_turn(Relay *r) {
        return share_again(r->sandbox->gate->event, &r->turn, relay_on_turn, r);
}

static int schedule_bucket(Relay *r) {
        usec_t now = clock_usec(), at = USEC_INFINITY;

        for (size_t i = 0; i < ELEMENTSOF(r->streams); i++)
                if (r->streams[i].waits)
                        at = MIN_OF(at, bucket_ready_at(*r->streams[i].bucket, now));
        if (at == USEC_INFINITY)
                return 0;
        if (!r->timer)
                return sd_event_add_time(r->sandbox->gate->event, &r->timer, CLOCK_MONOTONIC, at, TIMER_SLACK, relay_on_timer, r);
        (void) sd_event_source_set_time(r->timer, at);
        return sd_event_source_set_enabled(r->timer, SD_EVENT_ONESHOT);
}

/* The callback may free the relay: callers must not touch it afterwards. */
static void gate_relay_run(void *userdata) {
        Relay *r = userdata;
        RelayStep a = stream_run(r->streams), b = a >= STEP_FAILED ? STEP_WAIT : stream_run(r->streams + 1);

        if (a == STEP_TOTAL || b == STEP_TOTAL)
                r->done(RELAY_TOTAL, r->userdata);
        else if (a == STEP_FAILED || b == STEP_FAILED)
                r->done(RELAY_FAILED, r->userdata);
        else if (a == STEP_ENDED && b == STEP_ENDED)
                r->done(RELAY_OVER, r->userdata);
        else if (((a == STEP_TURN || b == STEP_TURN) && schedule_turn(r) < 0) || schedule_bucket(r) < 0)
                r->done(RELAY_FAILED, r->userdata);
}

static int gate_relay_enter(Relay *r) {
        if (share_enter(r->sandbox, &r->share))
                gate_relay_run(r);
        return 0;
}

static int relay_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Side *side = userdata;

        /* The next read or write finds the error. */
        if (revents & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
                side->readable = true;
        if (revents & (EPOLLOUT | EPOLLHUP | EPOLLERR))
                side->writable = true;
        return gate_relay_enter(side->relay);
}

static int on_silence(sd_event_source *source, uint64_t usec, void *userdata) {
        Relay *r = userdata;

        r->done(RELAY_SILENT, r->userdata);
        return 0;
}

static int side_init(Side *side, Relay *r, int fd) {
        *side = (Side) { .relay = r, .fd = fd, .readable = true, .writable = true };
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
        return sd_event_add_io(r->sandbox->gate->event, &side->source, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, relay_on_ready, side);
}

int relay_new(GateSandbox *s, int guest_fd, int upstream_fd, usec_t silence_usec, void (*done)(RelayEnd end, void *userdata), void *userdata,
                Relay **ret) {
        Relay *r = calloc(1, sizeof(*r));
        int k;

        if (!r)
                return -ENOMEM;
        r->sandbox = s;
        r->share = (ShareTurn) { .work = gate_relay_run, .userdata = r };
        r->done = done;
        r->userdata = userdata;
        r->streams[0] = (RelayStream) { .from = &r->guest, .to = &r->upstream, .pipe = PIPE_NONE, .up = true, .bucket = &s->up };
        r->streams[1] = (RelayStream) { .from = &r->upstream, .to = &r->guest, .pipe = PIPE_NONE, .bucket = &s->down };
        k = side_init(&r->guest, r, guest_fd);
        if (k >= 0)
                k = side_init(&r->upstream, r, upstream_fd);
        if (k >= 0 && silence_usec > 0)
                k = sd_event_add_time_relative(s->gate->event, &r->silence, CLOCK_MONOTONIC, silence_usec, 100 * USEC_PER_MSEC, on_silence, r);
        if (k < 0) {
                relay_free(r);
                return k;
        }
        *ret = r;
        return 0;
}

Relay *relay_free(Relay *r) {
        if (!r)
                return NULL;
        share_leave(r->sandbox, &r->share);
        for (size_t i = 0; i < ELEMENTSOF(r->streams); i++)
                pipe_return(&r->streams[i].pipe, r->streams[i].held == 0);
        sd_event_source_disable_unref(r->guest.source);
        sd_event_source_disable_unref(r->upstream.source);
        sd_event_source_disable_unref(r->turn);
        sd_event_source_disable_unref(r->timer);
        sd_event_source_disable_unref(r->silence);
        free(r);
        return NULL;
}
