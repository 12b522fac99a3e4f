#include "gate/share.h"

#include <time.h>
#include <utlist.h>

#include "gate/dns/dns.h"
#include "gate/relay/udp.h"

#define PART          8                     /* a share is 1/PART of the thread's time */
#define BURST         (10 * USEC_PER_MSEC)  /* what a sandbox may use at once */
#define DEBT_MAX      (250 * USEC_PER_MSEC) /* the largest debt of a sandbox */
#define LOOK_USEC     (50 * USEC_PER_MSEC)
#define PRIORITY_LATE 10                    /* sd-event: higher comes later */

int64_t share_priority(const GateSandbox *s) {
        return s->share.is_late ? PRIORITY_LATE : SD_EVENT_PRIORITY_NORMAL;
}

static void set_late(GateSandbox *s, bool late) {
        sd_event_source *const sources[] = { s->tcp_source, s->dns_source, s->udp_source, s->share.source };

        if (s->share.is_late == late)
                return;
        s->share.is_late = late;
        for (size_t i = 0; i < ELEMENTSOF(sources); i++)
                if (sources[i])
                        (void) sd_event_source_set_priority(sources[i], share_priority(s));
        udp_set_priority(s, share_priority(s));
        dns_set_priority(s, share_priority(s));
}

/* The debt shrinks at the rate of a share. */
static void forget(GateSandbox *s, usec_t now) {
        usec_t forgotten = (now - s->share.at) / PART;

        s->share.debt = s->share.debt > forgotten ? s->share.debt - forgotten : 0;
        s->share.at = now;
}

static int share_on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Gate *g = userdata;
        GateSandbox *s, *next;
        bool any = false;

        HASH_ITER(hh, g->sandboxes, s, next) {
                if (!s->share.is_late)
                        continue;
                forget(s, clock_usec());
                set_late(s, s->share.debt > BURST / 2);
                any |= s->share.is_late;
        }
        if (!any)
                return 0;
        (void) sd_event_source_set_time_relative(g->share_timer, LOOK_USEC);
        (void) sd_event_source_set_enabled(g->share_timer, SD_EVENT_ONESHOT);
        return 0;
}

static void charge(GateSandbox *s, usec_t cpu) {
        Gate *g = s->gate;

        s->usage.cpu_usec += cpu;
        forget(s, clock_usec());
        s->share.debt = MIN_OF(s->share.debt + cpu, DEBT_MAX);
        if (s->share.debt <= BURST || s->share.is_late)
                return;
        set_late(s, true);
        if (!g->share_timer) {
                (void) sd_event_add_time_relative(g->event, &g->share_timer, CLOCK_MONOTONIC, LOOK_USEC, LOOK_USEC / 10, share_on_look, g);
                return;
        }
        (void) sd_event_source_set_time_relative(g->share_timer, LOOK_USEC);
        (void) sd_event_source_set_enabled(g->share_timer, SD_EVENT_ONESHOT);
}

/* The queue. */

void share_works(GateSandbox *s) {
        s->gate->working_for = s;
}

int share_again(sd_event *event, sd_event_source **source, sd_event_handler_t handler, void *userdata) {
        sd_event_source *made = NULL;
        int r;

        if (*source && sd_event_source_get_enabled(*source, NULL) > 0)
                return 0;
        r = sd_event_add_defer(event, &made, handler, userdata);
        if (r < 0)
                return *source ? sd_event_source_set_enabled(*source, SD_EVENT_ONESHOT) : r;
        sd_event_source_disable_unref(*source);
        *source = made;
        return 0;
}

static int share_on_turn(sd_event_source *source, void *userdata);

/* If there is no memory for the event source, the next turn to wait tries again. */
static void share_next(GateSandbox *s) {
        if (share_again(s->gate->event, &s->share.source, share_on_turn, s) >= 0)
                (void) sd_event_source_set_priority(s->share.source, share_priority(s));
}

/* A sandbox that is the only one never waits. */
bool share_enter(GateSandbox *s, ShareTurn *t) {
        share_works(s);
        if (t->waits)
                return false;
        if (!s->share.is_late || HASH_COUNT(s->gate->sandboxes) < 2)
                return true;
        t->waits = true;
        DL_APPEND(s->share.waiting, t);
        share_next(s);
        return false;
}

void share_leave(GateSandbox *s, ShareTurn *t) {
        if (!t->waits)
                return;
        DL_DELETE(s->share.waiting, t);
        t->waits = false;
}

static int share_on_turn(sd_event_source *source, void *userdata) {
        GateSandbox *s = userdata;
        ShareTurn *t = s->share.waiting;

        share_works(s);
        if (!t)
                return 0;
        share_leave(s, t);
        if (s->share.waiting)
                share_next(s);
        t->work(t->userdata);
        return 0;
}

void share_sandbox_gone(GateSandbox *s) {
        s->share.source = sd_event_source_disable_unref(s->share.source);
        if (s->gate->working_for == s)
                s->gate->working_for = NULL;
}

void share_gate_gone(Gate *g) {
        g->share_timer = sd_event_source_disable_unref(g->share_timer);
}

/* The loop. */

static usec_t cpu_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}

int share_loop(Gate *g) {
        usec_t before = cpu_usec();
        int code = 0;

        while (sd_event_get_state(g->event) != SD_EVENT_FINISHED) {
                int r = sd_event_run(g->event, UINT64_MAX);
                usec_t now = cpu_usec();

                if (r < 0)
                        return r;
                if (g->working_for)
                        charge(g->working_for, now - before);
                g->working_for = NULL;
                before = now;
        }
        (void) sd_event_get_exit_code(g->event, &code);
        return code;
}
