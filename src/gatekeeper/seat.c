/* seat.c: one sandbox at the gate. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/reserve.h"
#include "core/turn.h"
#include "gatekeeper/internal.h"

#define TURNS_AT_ONCE 16
#define TRY_AGAIN     (1 * USEC_PER_SEC)
#define TRY_AGAIN_MAX (60 * USEC_PER_SEC)

int seat_new(Gatekeeper *k, Sandbox *sb, Seat **ret) {
        Seat *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->keeper = k;
        s->sandbox = sb;
        memcpy(s->id, sb->id, sizeof(s->id));
        memcpy(s->use.sandbox, sb->id, sizeof(s->use.sandbox));
        HASH_ADD_STR(k->seats, id, s);
        *ret = s;
        return 0;
}

static void leave_turns(Seat *s) {
        if (!s->queued)
                return;
        DL_DELETE2(s->keeper->turns, s, turn_prev, turn_next);
        s->queued = false;
}

/* Reports to the callers that wait for a policy to be in force. */
static void finish_waiters(Seat *s, const Error *error) {
        while (s->waiters) {
                SeatWaiter *w = s->waiters;

                DL_DELETE(s->waiters, w);
                w->done(s->sandbox, error, w->userdata);
                free(w);
        }
}

void seat_forget_waiter(Seat *s, void *userdata) {
        SeatWaiter *w, *next;

        DL_FOREACH_SAFE(s->waiters, w, next)
                if (w->userdata == userdata) {
                        DL_DELETE(s->waiters, w);
                        free(w);
                }
}

Seat *seat_free(Seat *s) {
        Gatekeeper *k;

        if (!s)
                return NULL;
        k = s->keeper;
        finish_waiters(s, &(Error) { -ESTALE, "the sandbox has ended" });
        leave_turns(s);
        group_leave(s);
        group_release(s);
        HASH_DEL(k->seats, s);
        certification_free(s->certification);
        s->timer = sd_event_source_disable_unref(s->timer);
        free(s->certificate);
        free(s->bundle_path);
        free(s);
        return NULL;
}

/* Turns. */

void seat_want_turn(Seat *s) {
        Gatekeeper *k = s->keeper;

        if (!s->queued) {
                DL_APPEND2(k->turns, s, turn_prev, turn_next);
                s->queued = true;
        }
        if (link_is_up(k))
                (void) turn_again(k->turn);
        else
                link_want(k);
}

/* Answers the core, and the callers that changed the policy. The seat must not be touched afterwards: it may
 * be gone. */
static void seat_tell(Seat *s, const Error *error) {
        bool awaited = s->awaited;
        Error copy = error ? *error : (Error) { 0 };
        Sandbox *sb = s->sandbox;

        s->awaited = false;
        s->timer = sd_event_source_disable_unref(s->timer);
        finish_waiters(s, error ? &copy : NULL);
        if (awaited)
                network_attached(sb, error ? &copy : NULL);
}

static int seat_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Seat *s = userdata;
        Gatekeeper *k = s->keeper;
        Error error = { 0 };

        s->timer = sd_event_source_disable_unref(s->timer);
        if (s->waits_for_hub) {
                (void) error_set(&error, -EAGAIN, "the network of its group cannot be reached: none of its members answers");
                group_leave(s);
                network_prepared(s->sandbox, &error);
                return 0;
        }
        if (!s->awaited && !s->waiters) {
                seat_want_turn(s);
                return 0;
        }
        if (link_is_up(k))
                (void) error_set(&error, -ETIMEDOUT, "cove-gate has not taken the sandbox within %llu s",
                                (unsigned long long) (GATE_PATIENCE / USEC_PER_SEC));
        else
                (void) error_set(&error, -EAGAIN, "cove-gate is not running, and sandboxes have no network (%.400s)",
                                k->last_error[0] ? k->last_error : "it is being started");
        seat_tell(s, &error);
        return 0;
}

void seat_arm(Seat *s, usec_t usec) {
        if (!s->timer)
                (void) sd_event_add_time_relative(s->keeper->manager->event, &s->timer, CLOCK_MONOTONIC, usec, 0, seat_on_timer, s);
}

void seat_attach(Seat *s, bool awaited) {
        s->awaited = awaited;
        s->state = SEAT_WAITING;
        s->dirty = true;
        if (awaited)
                seat_arm(s, GATE_PATIENCE);
        seat_want_turn(s);
}

void seat_claim(Seat *s) {
        s->awaited = true;
        s->dirty = true;
        seat_arm(s, GATE_PATIENCE);
        seat_want_turn(s);
}

int seat_set_policy(Seat *s, SandboxDone done, void *userdata) {
        SeatWaiter *w = calloc(1, sizeof(*w));

        if (!w)
                return -ENOMEM;
        *w = (SeatWaiter) { .done = done, .userdata = userdata };
        DL_APPEND(s->waiters, w);
        s->dirty = true;
        seat_arm(s, GATE_PATIENCE);
        seat_want_turn(s);
        return 0;
}

/* It cannot be done now, and no event tells when it can: reports the error if a caller waits, else tries
 * again later. */
static void seat_put_off(Seat *s, const Error *error) {
        if (s->awaited || s->waiters) {
                seat_tell(s, error);
                return;
        }
        if (s->pause == 0)
                log_warning("sandbox %s: its network cannot be connected, retrying: %s", s->id, error->text);
        s->pause = MIN_OF(MAX_OF(2 * s->pause, TRY_AGAIN), TRY_AGAIN_MAX);
        seat_arm(s, s->pause);
}

/* Asking. */

/* Hashes the rules that the gate enforces, without the fields that change from one message to the next. */
static int hash_rules(json_t *message, uint8_t ret[static SECRET_HASH_SIZE]) {
        static const char *const parts[] = { "mode", "network", "packages", "grants", "credentials", "names" };
        _cleanup_json_ json_t *rules = json_object();
        char *text;

        for (size_t i = 0; i < ELEMENTSOF(parts); i++)
                if (json_object_get(message, parts[i]))
                        (void) json_object_set(rules, parts[i], json_object_get(message, parts[i]));
        text = json_dumps(rules, JSON_COMPACT | JSON_SORT_KEYS);
        if (!text)
                return -ENOMEM;
        secret_hash(text, strlen(text), ret);
        secret_wipe(text, strlen(text));
        free(text);
        return 0;
}

/* 1: the message was sent; 0: the gate has these rules already, as a sandbox from a pool usually has its
 * policy before it has an owner. Takes the message. */
static int tell_gate(Seat *s, QuestionKind kind, json_t *message, const int *fds, size_t n_fds, Error *reterr) {
        uint8_t hash[SECRET_HASH_SIZE];
        uint64_t serial;
        int r;

        r = hash_rules(message, hash);
        if (r >= 0 && kind == QUESTION_POLICY && s->in_force && memcmp(hash, s->told, sizeof(hash)) == 0) {
                control_message_free(message);
                return 0;
        }
        if (r >= 0)
                r = question_add(s, kind, &serial);
        if (r < 0) {
                control_message_free(message);
                return error_set(reterr, r, "too many requests to the gate at once");
        }
        s->in_force = false;
        memcpy(s->told, hash, sizeof(hash));
        (void) json_object_set_new(message, "serial", json_integer((json_int_t) serial));
        s->serial = serial;
        r = link_send(s->keeper, message, fds, n_fds);
        if (r >= 0)
                return 1;
        question_drop(s->keeper, serial);
        return error_set(reterr, r, "the gate cannot be asked: %m");
}

static void seated(Seat *s);

static int seat_ask(Seat *s, QuestionKind kind, const int *fds, size_t n_fds, Error *reterr) {
        json_t *message = NULL;
        int r;

        r = request_make(s, kind == QUESTION_ATTACH ? "attach" : "policy", /* serial= */ 0, &message, reterr);
        if (r >= 0)
                r = tell_gate(s, kind, message, fds, n_fds, reterr);
        if (r < 0)
                return r;
        s->dirty = false;
        if (r > 0)
                s->state = SEAT_SENT;
        else
                seated(s);
        return 0;
}

static void ask_for_sockets(Seat *s) {
        int r = network_ask_sockets(s->sandbox);
        Error error = { 0 };

        if (r >= 0) {
                s->state = SEAT_SOCKETS;
                return;
        }
        (void) error_set(&error, r, "its PID 1 cannot be asked for its sockets: %m");
        seat_put_off(s, &error);
}

static void have_turn(Seat *s) {
        Error error = { 0 };

        if (s->state == SEAT_IDLE || s->state == SEAT_SOCKETS || s->state == SEAT_SENT || s->certification)
                return; /* the seat gets another turn when that is over */
        if (!s->at_gate)
                ask_for_sockets(s);
        else if (s->dirty && seat_ask(s, QUESTION_POLICY, NULL, 0, &error) < 0)
                seat_put_off(s, &error);
        else if (!s->dirty && s->state == SEAT_WAITING)
                s->state = SEAT_SEATED;
}

static int seat_on_turn(sd_event_source *source, uint64_t usec, void *userdata) {
        Gatekeeper *k = userdata;

        for (unsigned i = 0; i < TURNS_AT_ONCE && k->turns && link_is_up(k); i++) {
                Seat *s = k->turns;

                leave_turns(s);
                have_turn(s);
        }
        return k->turns && link_is_up(k) ? turn_again(source) : 0;
}

void seats_turn(Gatekeeper *k) {
        if (!k->turn && turn_new(k->manager->event, &k->turn, seat_on_turn, k) < 0)
                return;
        (void) turn_again(k->turn);
}

/* "packages" may stand for other hosts now. Sandboxes whose rules stay the same are skipped (tell_gate()). */
void seats_reloaded(Gatekeeper *k) {
        Seat *s, *next;

        HASH_ITER(hh, k->seats, s, next)
                if (s->at_gate && s->sandbox->spec.policy && strstr(s->sandbox->spec.policy, "\"" EGRESS_PACKAGES "\"")) {
                        s->dirty = true;
                        seat_want_turn(s);
                }
}

/* Every sandbox has to be attached to the next gate, which knows none. */
void seats_gate_gone(Gatekeeper *k) {
        Seat *s, *next;

        HASH_ITER(hh, k->seats, s, next) {
                s->at_gate = s->in_force = false;
                s->serial = 0;
                if (s->state == SEAT_IDLE)
                        continue;
                if (s->state != SEAT_SOCKETS)
                        s->state = SEAT_WAITING;
                s->dirty = true;
                if (!s->queued) {
                        DL_APPEND2(k->turns, s, turn_prev, turn_next);
                        s->queued = true;
                }
        }
}

/* Answers. */

static size_t sockets_of(uint8_t shape) {
        return shape == SPAWN_NETWORK_GATED ? 3 : 2;
}

static void gatekeeper_seat_attach(Seat *s, uint8_t shape, const int *sockets) {
        _reserve_ bool held = reserve_enter();
        int fds[CONTROL_FDS_MAX];
        size_t n = shape == SPAWN_NETWORK_GATED ? 3 : 1; /* the gate gets no hub */
        Error error = { 0 };
        int r = 0;

        memcpy(fds, sockets, n * sizeof(int));
        fds[n] = (int) syscall(SYS_pidfd_open, s->sandbox->pid, 0);
        if (fds[n] < 0)
                r = error_set(&error, -errno, "its PID 1 (%d) cannot be watched: %m", s->sandbox->pid);
        else
                r = seat_ask(s, QUESTION_ATTACH, fds, n + 1, &error);
        (void) fd_close(fds[n]);
        if (r >= 0)
                return;
        s->state = SEAT_WAITING;
        seat_put_off(s, &error);
}

void seat_on_sockets(Seat *s, int error, uint8_t shape, int *fds, size_t n_fds) {
        Error failure = { 0 };

        if (error == 0 && shape == SPAWN_NETWORK_LINKED && n_fds == sockets_of(shape))
                group_take_hub(s, TAKE_FD(fds[1]));
        if (s->state != SEAT_SOCKETS)
                return; /* only the hub was asked for, or the answer is too late */
        s->state = SEAT_WAITING;
        if (error != 0 || n_fds != sockets_of(shape) || shape != network_shape(s->sandbox->spec.network)) {
                (void) error_set(&failure, error != 0 ? -abs(error) : -EBADMSG, "its PID 1 has no sockets of its network: %m");
                seat_put_off(s, &failure);
                return;
        }
        if (link_is_up(s->keeper))
                gatekeeper_seat_attach(s, shape, fds);
        else
                seat_want_turn(s);
}

static void seated(Seat *s) {
        s->state = SEAT_SEATED;
        s->in_force = true;
        s->pause = 0;
        if (s->dirty) { /* changed again meanwhile */
                seat_want_turn(s);
                return;
        }
        if (s->names_stale)
                group_came(s);
        seat_tell(s, NULL);
}

void seat_on_done(Seat *s, json_t *answer) {
        const char *certificate = json_string_value(json_object_get(answer, "certificate"));
        Error error = { 0 };
        int r;

        s->serial = 0;
        if (!s->at_gate) {
                s->at_gate = true;
                usage_attached(s);
                group_came(s);
        }
        s->state = SEAT_SEATED;
        if (!certificate || (s->certificate && strcmp(s->certificate, certificate) == 0)) {
                seated(s);
                return;
        }
        free(s->certificate);
        s->certificate = strdup(certificate);
        r = s->certificate ? certification_start(s) : -ENOMEM;
        if (r < 0) {
                (void) error_set(&error, r, "its authority cannot be put into it: %m");
                seat_certified(s, &error);
        }
}

void seat_certified(Seat *s, const Error *error) {
        s->certification = certification_free(s->certification);
        if (!error) {
                seated(s);
                return;
        }
        free(s->certificate);
        s->in_force = false;
        s->certificate = NULL; /* so that the next policy tries again; if no caller waits, this policy is retried: the sandbox may be paused */
        s->dirty = true;
        seat_put_off(s, error);
}

void seat_on_failed(Seat *s, const char *text) {
        Error error = { 0 };

        s->serial = 0;
        s->state = s->at_gate ? SEAT_SEATED : SEAT_WAITING;
        (void) error_set(&error, -EIO, "cove-gate refuses its network: %.400s", text);
        if (s->at_gate) { /* the gate has the old policy, which the owner has replaced: without a policy it must have none */
                (void) link_send(s->keeper, json_pack("{s:s, s:i, s:s}", "do", "detach", "serial", 0, "id", s->id), NULL, 0);
                s->at_gate = false;
        }
        s->in_force = false;
        seat_put_off(s, &error);
}

void seat_on_gone(Seat *s) {
        s->at_gate = s->in_force = false;
        if (s->state == SEAT_SEATED)
                s->state = SEAT_IDLE; /* others report its end */
}

/* The gate notices the end of PID 1 itself, and then sends the usage. It is asked now, because the seat may
 * be gone by then. */
void seat_leave(Seat *s) {
        usage_ask(s);
        s->state = SEAT_IDLE;
        s->awaited = false;
        leave_turns(s);
        s->certification = certification_free(s->certification);
        s->timer = sd_event_source_disable_unref(s->timer);
        finish_waiters(s, &(Error) { -ESTALE, "the sandbox has ended" });
        group_leave(s);
}
