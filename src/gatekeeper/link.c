/* link.c: the connection to the gate.
 *
 *      down → (starting) → greeting → listing → up
 *        └──────┴─────────────┴──────────┴───────┴── down: it died, or does not answer; retried with growing delay
 *
 * A gate that an earlier coved left running is used; one of another version is told to quit, and replaced.
 * There is never a second gate: a gate holds a lock (gate/claim.h), and one that holds it but cannot be
 * reached is killed before another is started. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "config/config.h"
#include "core/ailment.h"
#include "core/settle.h"
#include "gatekeeper/internal.h"
#include "gatekeeper/start.h"

#define ITEMS_MAX         8192
#define MESSAGES_PER_TURN 64
#define LOOK_AGAIN        (10 * USEC_PER_MSEC)
#define REST_USEC         (100 * USEC_PER_MSEC) /* after a failure of our own */
#define PAUSE_FIRST       (50 * USEC_PER_MSEC)
#define PAUSE_MAX         (5 * USEC_PER_SEC)
#define WELL_AFTER        (10 * USEC_PER_SEC) /* a gate that ran this long did not fail to start */

struct LinkItem {
        json_t *message;
        int fds[CONTROL_FDS_MAX];
        size_t n_fds;
        LinkItem *prev, *next;
};

void link_init(GateLink *l) {
        *l = (GateLink) { .fd = -EBADF };
}

static void gatekeeper_link_item_free(LinkItem *item) {
        for (size_t i = 0; i < item->n_fds; i++)
                (void) fd_close(item->fds[i]);
        control_message_free(item->message);
        free(item);
}

static void drop_items(GateLink *l) {
        LinkItem *item, *next;

        DL_FOREACH_SAFE(l->items, item, next)
                gatekeeper_link_item_free(item);
        l->items = NULL;
        l->n_items = 0;
}

static void gatekeeper_link_look_in(Gatekeeper *k, usec_t usec);

static void disconnect(Gatekeeper *k) {
        GateLink *l = &k->link;

        l->io = sd_event_source_disable_unref(l->io);
        l->rest = sd_event_source_disable_unref(l->rest);
        l->fd = fd_close(l->fd);
        drop_items(l);
        l->state = LINK_DOWN;
        if (l->timer)
                (void) sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
        questions_forget(k);
        seats_gate_gone(k);
}

void link_done(Gatekeeper *k) {
        GateLink *l = &k->link;

        l->timer = sd_event_source_disable_unref(l->timer);
        l->child = sd_event_source_disable_unref(l->child);
        l->io = sd_event_source_disable_unref(l->io);
        l->rest = sd_event_source_disable_unref(l->rest);
        l->fd = fd_close(l->fd);
        drop_items(l);
}

/* Kills a gate that does not listen yet: it would leave its socket behind after us. It has done nothing so
 * far, and is our child to wait for. */
static void stop_starting(GateLink *l) {
        pid_t pid;

        if ((l->state != LINK_STARTING && l->state != LINK_DOWN) || !l->child || sd_event_source_get_child_pid(l->child, &pid) < 0)
                return;
        l->child = sd_event_source_disable_unref(l->child);
        program_kill(pid);
}

/* Dismisses also a gate that an earlier coved left and this one never needed. A gate may not remove the
 * socket itself. */
void link_dismiss(Gatekeeper *k) {
        GateLink *l = &k->link;

        stop_starting(l);
        if (l->fd < 0)
                l->fd = gate_connect(k->socket_path);
        if (l->fd >= 0)
                (void) link_send(k, json_pack("{s:s}", "do", "quit"), NULL, 0);
        (void) unlink(k->socket_path);
}

bool link_is_up(const Gatekeeper *k) {
        return k->link.state == LINK_UP;
}

/* The gate is gone, or unusable. */
static void gatekeeper_link_fail(Gatekeeper *k, const char *format, ...) _printf_(2, 3);
static void gatekeeper_link_fail(Gatekeeper *k, const char *format, ...) {
        GateLink *l = &k->link;
        bool was_well = l->state == LINK_UP && clock_usec() - l->up_since >= WELL_AFTER;
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(k->last_error, sizeof(k->last_error), format, ap);
        va_end(ap);
        if (k->seats)
                log_warning("cove-gate: %s; sandboxes have no network until another one is started", k->last_error);
        disconnect(k);
        l->pause = was_well ? 0 : MIN_OF(MAX_OF(2 * l->pause, PAUSE_FIRST), PAUSE_MAX);
        if (k->seats)
                gatekeeper_link_look_in(k, l->pause);
        else
                manager_heal(k->manager, "gate"); /* no sandbox needs the gate, and no timer looks again */
}

/* Sending. */

static void gatekeeper_link_want_room(const GateLink *l) {
        if (l->io)
                (void) sd_event_source_set_io_events(l->io, l->items ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static int gatekeeper_link_put_off(GateLink *l, json_t *message, const int *fds, size_t n_fds) {
        LinkItem *item;

        if (l->n_items >= ITEMS_MAX)
                return -ENOBUFS;
        item = calloc(1, sizeof(*item));
        if (!item)
                return -ENOMEM;
        item->message = json_incref(message);
        for (; item->n_fds < n_fds; item->n_fds++) {
                item->fds[item->n_fds] = fcntl(fds[item->n_fds], F_DUPFD_CLOEXEC, 3);
                if (item->fds[item->n_fds] < 0) {
                        gatekeeper_link_item_free(item);
                        return -EMFILE;
                }
        }
        DL_APPEND(l->items, item);
        l->n_items++;
        gatekeeper_link_want_room(l);
        return 0;
}

int link_send(Gatekeeper *k, json_t *message, const int *fds, size_t n_fds) {
        GateLink *l = &k->link;
        int r = -EAGAIN;

        if (!message)
                return -ENOMEM;
        settle_now(k->manager->settle);
        if (l->fd < 0)
                r = -ENOTCONN;
        else if (!l->items)
                r = control_send(l->fd, message, fds, n_fds);
        if (error_is_shortage(r))
                r = gatekeeper_link_put_off(l, message, fds, n_fds);
        if (json_is_array(json_object_get(message, "credentials")) && !l->items)
                control_message_free(message);
        else
                json_decref(message);
        return r;
}

static int gatekeeper_link_on_rested(sd_event_source *source, uint64_t usec, void *userdata) {
        const GateLink *l = userdata;

        return sd_event_source_set_enabled(l->io, SD_EVENT_ON);
}

/* Stops watching the socket for a while: until our shortage is over, it would report readiness again and
 * again. */
static void gatekeeper_link_rest(const GateLink *l) {
        if (sd_event_source_set_time_relative(l->rest, REST_USEC) >= 0 && sd_event_source_set_enabled(l->rest, SD_EVENT_ONESHOT) >= 0)
                (void) sd_event_source_set_enabled(l->io, SD_EVENT_OFF);
}

static int gatekeeper_link_flush(GateLink *l) {
        int r = 0;

        while (l->items) {
                LinkItem *item = l->items;

                r = control_send(l->fd, item->message, item->fds, item->n_fds);
                if (r != -EAGAIN && error_is_shortage(r))
                        gatekeeper_link_rest(l);
                if (error_is_shortage(r))
                        break;
                if (r < 0)
                        return r;
                DL_DELETE(l->items, item);
                l->n_items--;
                gatekeeper_link_item_free(item);
        }
        gatekeeper_link_want_room(l);
        return 0;
}

/* Receiving. */

static int gatekeeper_link_take_message(Gatekeeper *k) {
        _cleanup_json_ json_t *message = NULL;
        int fds[CONTROL_FDS_MAX], r;
        size_t n_fds = 0;

        r = control_receive(k->link.fd, &message, fds, &n_fds);
        if (r <= 0)
                return r < 0 ? r : -EPIPE;
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]); /* the gate has no descriptors to send */
        beat_heard(&k->link.beat);
        messages_take(k, message);
        return 1;
}

static int gatekeeper_link_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Gatekeeper *k = userdata;
        int r = 0;

        if (revents & EPOLLOUT)
                r = gatekeeper_link_flush(&k->link);
        for (unsigned i = 0; r >= 0 && i < MESSAGES_PER_TURN && k->link.fd >= 0; i++) {
                r = gatekeeper_link_take_message(k);
                if (r != -EAGAIN && error_is_shortage(r))
                        gatekeeper_link_rest(&k->link);
                if (error_is_shortage(r))
                        return 0;
        }
        if (r < 0 && k->link.fd >= 0)
                gatekeeper_link_fail(k, "%s", r == -EPIPE ? "it has ended" : r == -EBADMSG ? "it sends invalid messages" : strerror(-r));
        return 0;
}

/* From nothing to a greeting. */

static void gatekeeper_link_watch(Gatekeeper *k);

static void greet(Gatekeeper *k, int fd) {
        GateLink *l = &k->link;
        int r;

        l->fd = fd;
        r = sd_event_add_io(k->manager->event, &l->io, fd, EPOLLIN, gatekeeper_link_on_io, k);
        if (r >= 0)
                r = sd_event_add_time_relative(k->manager->event, &l->rest, CLOCK_MONOTONIC, REST_USEC, 0, gatekeeper_link_on_rested, l);
        if (r >= 0)
                r = sd_event_source_set_enabled(l->rest, SD_EVENT_OFF);
        if (r >= 0)
                r = link_send(k, hello_message(k), NULL, 0);
        if (r < 0) {
                gatekeeper_link_fail(k, "it cannot be greeted: %s", strerror(-r));
                return;
        }
        l->state = LINK_GREETING;
        l->beat = (Beat) { 0 };
        gatekeeper_link_watch(k);
}

static int gatekeeper_link_on_child(sd_event_source *source, const siginfo_t *info, void *userdata) {
        Gatekeeper *k = userdata;

        k->link.child = sd_event_source_disable_unref(k->link.child);
        if (k->link.state == LINK_STARTING)
                gatekeeper_link_fail(k, "it ended at once, with %s %d", info->si_code == CLD_EXITED ? "status" : "signal", info->si_status);
        return 0;
}

/* True: there is no other gate. A gate without its socket would continue by its last policies, beside the
 * one that we start. A child that does not hold the lock yet may still take it: its end must be reported
 * first. */
static bool gatekeeper_link_is_alone(Gatekeeper *k) {
        int r = gate_evict(k->socket_path);

        if (r > 0 && !k->link.evicting)
                log_warning("a running cove-gate cannot be reached through its socket '%s': it is killed and replaced", k->socket_path);
        k->link.evicting = r > 0;
        if (r == 0 && k->link.child) {
                (void) sd_event_source_send_child_signal(k->link.child, SIGKILL, NULL, 0);
                r = 1;
        }
        if (r > 0)
                gatekeeper_link_look_in(k, LOOK_AGAIN);
        else if (r < 0)
                gatekeeper_link_fail(k, "one that cannot be reached through its socket '%s' cannot be killed: %s", k->socket_path, strerror(-r));
        return r == 0;
}

static void gatekeeper_link_start(Gatekeeper *k) {
        GateLink *l = &k->link;
        Error error = { 0 };
        pid_t pid;
        int r;

        if (!gatekeeper_link_is_alone(k))
                return;
        r = gate_start(k->program, k->socket_path, &pid, &error);
        if (r < 0) {
                gatekeeper_link_fail(k, "%s", error.text);
                return;
        }
        if (l->n_starts++ > 0)
                observe_network(k->manager, NULL, &(NetworkNews) { .kind = "restart", .count = 1 });
        l->fresh = true;
        l->state = LINK_STARTING;
        l->beat = (Beat) { 0 };
        (void) sd_event_add_child(k->manager->event, &l->child, pid, WEXITED, gatekeeper_link_on_child, k);
        gatekeeper_link_look_in(k, LOOK_AGAIN);
}

static void gatekeeper_link_try(Gatekeeper *k) {
        Error error = { 0 };
        int fd;

        if (!k->has_seed && seed_load(k, &error) < 0) {
                gatekeeper_link_fail(k, "%s", error.text);
                return;
        }
        fd = gate_connect(k->socket_path);
        if (fd >= 0)
                greet(k, fd);
        else if (k->link.state == LINK_STARTING)
                gatekeeper_link_look_in(k, LOOK_AGAIN);
        else if (fd == -ENOENT || fd == -ECONNREFUSED)
                gatekeeper_link_start(k);
        else
                gatekeeper_link_fail(k, "its socket '%s' cannot be reached: %s", k->socket_path, strerror(-fd));
}

/* How long the gate may be silent while a question is open, as one is every second. */
static usec_t gatekeeper_link_patience(const Gatekeeper *k) {
        return k->manager->settings->cleanup.helper_timeout_usec;
}

static void gatekeeper_link_kill(Gatekeeper *k) {
        gate_kill_peer(k->link.fd);
        gatekeeper_link_fail(k, "it has not answered for %llu s, and was killed", (unsigned long long) (gatekeeper_link_patience(k) / USEC_PER_SEC));
}

/* Kills a gate that hangs: it would cut all sandboxes off for good. */
static void gatekeeper_link_watch(Gatekeeper *k) {
        usec_t limit = gatekeeper_link_patience(k), interval = limit / BEATS_PER_LIMIT;
        usec_t silent = beat_look(&k->link.beat, clock_usec(), interval, k->questions || k->link.state != LINK_UP);

        if (silent >= limit / 2)
                manager_ail(k->manager, "gate", /* ill= */ true, "cove-gate has not answered for %llu s: network policies cannot be changed",
                                (unsigned long long) (silent / USEC_PER_SEC));
        else if (k->link.state == LINK_UP)
                manager_heal(k->manager, "gate");
        if (silent >= limit)
                gatekeeper_link_kill(k);
        else
                gatekeeper_link_look_in(k, interval);
}

static int gatekeeper_link_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Gatekeeper *k = userdata;
        GateLink *l = &k->link;

        if (l->state != LINK_DOWN && l->state != LINK_STARTING) {
                gatekeeper_link_watch(k);
                return 0;
        }
        if (l->state == LINK_STARTING && beat_look(&l->beat, clock_usec(), LOOK_AGAIN, /* waits= */ true) >= gatekeeper_link_patience(k)) {
                gatekeeper_link_fail(k, "it was started but does not listen");
                return 0;
        }
        if (l->state == LINK_DOWN || l->state == LINK_STARTING) {
                l->fresh = l->state == LINK_STARTING;
                gatekeeper_link_try(k);
        }
        return 0;
}

/* The check for silence has a low priority, so that all that came meanwhile is read first. A start has the
 * normal one: it must not wait for many requests. */
static void gatekeeper_link_look_in(Gatekeeper *k, usec_t usec) {
        GateLink *l = &k->link;
        bool is_reached = l->state != LINK_DOWN && l->state != LINK_STARTING;
        int r;

        if (!l->timer)
                r = sd_event_add_time_relative(k->manager->event, &l->timer, CLOCK_MONOTONIC, usec, 1, gatekeeper_link_on_timer, k);
        else
                r = sd_event_source_set_time_relative(l->timer, usec);
        if (r >= 0)
                r = sd_event_source_set_priority(l->timer, is_reached ? SD_EVENT_PRIORITY_NORMAL + 10 : SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                (void) sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

void link_want(Gatekeeper *k) {
        int enabled = SD_EVENT_OFF;

        if (k->link.state != LINK_DOWN)
                return;
        if (k->link.timer && sd_event_source_get_enabled(k->link.timer, &enabled) >= 0 && enabled != SD_EVENT_OFF)
                return; /* the timer is about to connect */
        gatekeeper_link_look_in(k, 0);
}

/* Answers. */

void link_greeted(Gatekeeper *k, bool same_version) {
        GateLink *l = &k->link;

        if (l->state != LINK_GREETING)
                return; /* the answer was for other settings */
        if (!same_version) {
                log_notice("cove-gate is of another version, and is replaced");
                l->state = LINK_REPLACING;
                (void) link_send(k, json_pack("{s:s}", "do", "quit"), NULL, 0);
                return;
        }
        l->state = LINK_LISTING;
        if (link_send(k, json_pack("{s:s}", "do", "list"), NULL, 0) < 0)
                gatekeeper_link_fail(k, "it cannot be asked what it has");
}

void link_refused(Gatekeeper *k, const char *text) {
        if (k->link.state == LINK_GREETING)
                gatekeeper_link_fail(k, "it refuses its settings: %.300s", text);
        else
                log_warning("cove-gate: %.300s", text);
}

void link_listed(Gatekeeper *k) {
        GateLink *l = &k->link;

        if (l->state != LINK_LISTING)
                return;
        l->state = LINK_UP;
        l->up_since = clock_usec();
        manager_heal(k->manager, "gate");
        k->last_error[0] = '\0';
        if (l->fresh)
                approvals_gate_is_fresh(k);
        l->fresh = false;
        seats_turn(k);
}

void link_hello(Gatekeeper *k) {
        if (k->link.state == LINK_UP || k->link.state == LINK_LISTING)
                (void) link_send(k, hello_message(k), NULL, 0);
}
