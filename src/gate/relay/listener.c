#include "gate/relay/listener.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/macro.h"
#include "gate/memory.h"
#include "gate/relay/connection.h"
#include "gate/share.h"

#define BATCH_MAX   16 /* so that one sandbox does not hold up the others */
#define FIRST_BYTES (256 * 1024) /* estimate of what an inspected connection takes at first */
#define LOOK_AGAIN  (100 * USEC_PER_MSEC)

static void pause_one(GateSandbox *s) {
        s->is_full = true;
        (void) sd_event_source_set_enabled(s->tcp_source, SD_EVENT_OFF);
}

/* The next connection is assumed to take as much as the average one. */
static bool has_memory(const GateSandbox *s) {
        size_t each = s->n_connections > 0 ? (s->memory - s->settings_held) / s->n_connections : 0;

        return s->n_connections == 0 || memory_fits(s->gate, s, MAX_OF(each, (size_t) FIRST_BYTES));
}

/* A sandbox may have no more connections than are left for all others: one that takes all it can get has
 * half of them, two have a third each, and a sandbox that has none finds room. */
static bool may_take(const GateSandbox *s) {
        const Gate *g = s->gate;
        size_t left = g->connections_max > g->n_connections ? g->connections_max - g->n_connections : 0;

        return s->n_connections < MIN_OF(left, (size_t) LISTENER_CONNECTIONS_MAX) && has_memory(s);
}

void listener_resume(GateSandbox *s) {
        if (!s->is_full || !may_take(s))
                return;
        s->is_full = false;
        (void) sd_event_source_set_enabled(s->tcp_source, SD_EVENT_ON);
}

static void look_again(Gate *g);

static int on_look_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Gate *g = userdata;
        GateSandbox *s, *next;
        bool waits = false;

        HASH_ITER(hh, g->sandboxes, s, next) {
                listener_resume(s);
                waits |= s->is_full && s->n_connections < LISTENER_CONNECTIONS_MAX; /* otherwise the end of a connection of its own resumes it */
        }
        if (waits)
                look_again(g);
        return 0;
}

/* The machine, or the gate, is out of resources. No single event tells when there is room again, so a timer
 * looks. */
static void look_again(Gate *g) {
        if (!g->room_timer) {
                (void) sd_event_add_time_relative(g->event, &g->room_timer, CLOCK_MONOTONIC, LOOK_AGAIN, LOOK_AGAIN, on_look_again, g);
                return;
        }
        (void) sd_event_source_set_time_relative(g->room_timer, LOOK_AGAIN);
        (void) sd_event_source_set_enabled(g->room_timer, SD_EVENT_ONESHOT);
}

static bool listener_has_room(GateSandbox *s) {
        if (may_take(s))
                return true;
        pause_one(s);
        if (!has_memory(s))
                gate_tell(s, "limit", &(EgressVerdict) { .action = EGRESS_DENY, .reason = EGRESS_MEMORY, .rule = -1 }, &(EgressQuestion) { .protocol = EGRESS_TCP });
        if (s->n_connections < LISTENER_CONNECTIONS_MAX)
                look_again(s->gate);
        return false;
}

static void on_accept_failed(GateSandbox *s, int error) {
        if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
                log_debug("sandbox %s: no room for its connection", s->id);
                pause_one(s);
                look_again(s->gate);
        }
        /* Other errors concern a connection that is already gone. */
}

int listener_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        GateSandbox *s = userdata;

        share_works(s);
        for (unsigned i = 0; i < BATCH_MAX && listener_has_room(s); i++) {
                int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (connection < 0) {
                        on_accept_failed(s, errno);
                        break;
                }
                connection_take(s, connection);
        }
        return 0;
}
