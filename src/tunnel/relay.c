#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tunnel/tunnel.h"

#define BUFFER_SIZE 65536
#define FLUSH_MAX   (5 * USEC_PER_SEC) /* for the last bytes of a client that has gone */

/* One direction. Events: what the last call on the far side waits for. */
typedef struct TunnelLane {
        char data[BUFFER_SIZE];
        size_t start, end;
        short events;
        bool over; /* nothing more comes from its source */
} TunnelLane;

typedef struct TunnelRelay {
        TlsTunnel *tunnel;
        TunnelLane up, down;
        bool gone;        /* cove-client has closed its socket, and not only one half of it */
        bool said_up, said_down; /* each end has been passed on */
        int failure;      /* of the far side; reported after all earlier data has been passed on */
        usec_t until;     /* set when gone */
} TunnelRelay;

static bool lane_is_empty(const TunnelLane *l) {
        return l->start == l->end;
}

static void relay_lose_near(TunnelRelay *r) {
        if (!r->gone)
                r->until = clock_usec() + FLUSH_MAX;
        r->gone = true;
}

static void relay_fill_up(TunnelRelay *r) {
        ssize_t n;

        if (r->up.over || !lane_is_empty(&r->up))
                return;
        n = recv(TUNNEL_NEAR, r->up.data, BUFFER_SIZE, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        r->up.over = n <= 0;
        r->up.start = 0;
        r->up.end = n > 0 ? (size_t) n : 0;
}

static void relay_drain_up(TunnelRelay *r, Error *reterr) {
        while (!lane_is_empty(&r->up) && r->failure == 0) {
                ssize_t n = tunnel_write(r->tunnel, r->up.data + r->up.start, r->up.end - r->up.start, &r->up.events, reterr);

                if (n == -EAGAIN)
                        return;
                if (n > 0)
                        r->up.start += (size_t) n;
                else
                        r->failure = n < 0 ? (int) n : error_set(reterr, -EPIPE, "%s has closed the connection", r->tunnel->url);
        }
        if (r->up.over && !r->said_up && r->failure == 0) {
                tunnel_say_over(r->tunnel);
                r->said_up = true;
        }
}

static void relay_fill_down(TunnelRelay *r, Error *reterr) {
        ssize_t n;

        if (r->down.over || r->failure < 0 || !lane_is_empty(&r->down))
                return;
        r->down.events = 0;
        n = tunnel_read(r->tunnel, r->down.data, BUFFER_SIZE, &r->down.events, reterr);
        if (n == -EAGAIN)
                return;
        if (n < 0)
                r->failure = (int) n;
        r->down.over = n <= 0;
        r->down.start = 0;
        r->down.end = n > 0 ? (size_t) n : 0;
}

/* The pipe is closed first: a client that reads the end of the stream can then check whether it was in order. */
static void relay_pass_end(TunnelRelay *r) {
        (void) close(STDERR_FILENO);
        (void) shutdown(TUNNEL_NEAR, SHUT_WR);
        r->said_down = true;
}

static void relay_drain_down(TunnelRelay *r) {
        while (!lane_is_empty(&r->down)) {
                ssize_t n = send(TUNNEL_NEAR, r->down.data + r->down.start, r->down.end - r->down.start, MSG_NOSIGNAL | MSG_DONTWAIT);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return;
                if (n < 0)
                        relay_lose_near(r);
                r->down.start = n < 0 ? r->down.end : r->down.start + (size_t) n;
        }
        if (r->down.over && !r->said_down && r->failure == 0)
                relay_pass_end(r);
}

static bool relay_is_over(const TunnelRelay *r) {
        if (r->gone)
                return r->failure < 0 || (r->up.over && lane_is_empty(&r->up)) || clock_usec() >= r->until;
        return lane_is_empty(&r->down) && (r->failure < 0 || (r->said_up && r->said_down));
}

/* OpenSSL may hold bytes that poll(2) does not report: it is asked until it has none. */
static bool relay_may_read(const TunnelRelay *r) {
        return !r->down.over && r->failure == 0 && lane_is_empty(&r->down) && r->down.events == 0;
}

static void relay_wait(TunnelRelay *r) {
        short near = 0, far = 0;
        struct pollfd polls[2];

        if (!r->up.over && lane_is_empty(&r->up))
                near |= POLLIN;
        if (!lane_is_empty(&r->down))
                near |= POLLOUT;
        if (!lane_is_empty(&r->up))
                far |= r->up.events;
        if (!r->down.over && lane_is_empty(&r->down))
                far |= r->down.events;
        polls[0] = (struct pollfd) { .fd = r->gone && near == 0 ? -1 : TUNNEL_NEAR, .events = near };
        polls[1] = (struct pollfd) { .fd = far != 0 ? TUNNEL_FAR : -1, .events = far }; /* otherwise a hang-up would wake us for nothing */
        if (poll(polls, 2, r->gone ? (int) (FLUSH_MAX / USEC_PER_MSEC) : -1) < 0)
                return;
        if (polls[0].revents & (POLLHUP | POLLERR))
                relay_lose_near(r);
}

int tunnel_relay(TlsTunnel *t, Error *reterr) {
        static TunnelRelay r; /* large */

        r.tunnel = t;
        for (;;) {
                relay_fill_up(&r);
                relay_drain_up(&r, reterr);
                relay_fill_down(&r, reterr);
                relay_drain_down(&r);
                if (relay_is_over(&r))
                        break;
                if (!relay_may_read(&r))
                        relay_wait(&r);
        }
        if (r.gone)
                tunnel_say_over(t);
        return r.gone ? 0 : r.failure;
}
