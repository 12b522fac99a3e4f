/* What waits for an answer: one question for many, time limits, a yes that comes late. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/ask.h"
#include "gate/events.h"
#include "unit.h"

typedef struct World {
        Gate gate;
        GateSandbox sandbox;
        json_t *told;
} World;

typedef struct Waiter {
        unsigned calls;
        bool allow;
        EgressReason reason;
        Ask *cancels; /* somebody else, when it is told */
} Waiter;

static void on_answer(bool allow, EgressReason reason, void *userdata) {
        Waiter *w = userdata;

        w->calls++;
        w->allow = allow;
        w->reason = reason;
        w->cancels = ask_cancel(w->cancels);
}

static void tell(Gate *g, json_t *event, void *userdata) {
        World *w = userdata;

        (void) json_array_append_new(w->told, event);
}

static void world_init(World *w, double timeout) {
        json_t *network = json_pack("{s:s, s:[s]}", "mode", "egress", "ask", "*");
        JsonComplaints c = { 0 };

        *w = (World) { .gate.control_fd = 0, .gate.tell = tell, .gate.tell_userdata = w, .told = json_array() };
        check_result("loop", sd_event_new(&w->gate.event), 0);
        check_result("asks", asks_new(&w->gate, &w->gate.asks), 0);
        w->sandbox = (GateSandbox) { .gate = &w->gate, .id = "box", .events = gate_events_new() };
        check_result("policy", egress_policy_parse(network, "network", NULL, &w->sandbox.policy, &c), 0);
        check_true("no complaint", !json_has_complaints(&c));
        w->sandbox.policy.ask_timeout_usec = (usec_t) (timeout * (double) USEC_PER_SEC);
        json_decref(network);
}

static void world_done(World *w) {
        asks_sandbox_gone(&w->sandbox);
        asks_free(w->gate.asks);
        egress_policy_done(&w->sandbox.policy);
        gate_events_free(w->sandbox.events);
        json_decref(w->told);
        sd_event_unref(w->gate.event);
}

/* For so long, and until nothing is left to do: the time may be over before the loop has had its turn. */
static void turn(World *w, usec_t how_long) {
        usec_t end = clock_usec() + how_long;

        while (clock_usec() < end)
                (void) sd_event_run(w->gate.event, 10 * USEC_PER_MSEC);
        while (sd_event_run(w->gate.event, 0) > 0)
                ;
}

static EgressQuestion question(EgressProtocol protocol, const char *host, uint16_t port) {
        return (EgressQuestion) { .protocol = protocol, .host = host, .port = port };
}

static const char *told(const World *w, size_t i, const char *field) {
        return json_string_value(json_object_get(json_array_get(w->told, i), field));
}

TEST(one_question_for_all) {
        EgressQuestion q = question(EGRESS_HTTPS, "a.test", 443);
        Waiter waiters[10] = { 0 };
        World w;

        world_init(&w, 60);
        for (size_t i = 0; i < ELEMENTSOF(waiters); i++)
                check_true("waits", gate_ask(&w.sandbox, &q, on_answer, waiters + i) != NULL);
        check_uint("asked once", json_array_size(w.told), 1);
        check_string("event", told(&w, 0, "event"), "asked");
        check_string("object", told(&w, 0, "object"), "https://a.test:443");
        asks_answer(w.gate.asks, told(&w, 0, "ask"), true);
        for (size_t i = 0; i < ELEMENTSOF(waiters); i++)
                check_true("told yes, once", waiters[i].calls == 1 && waiters[i].allow);
        check_true("over", !asks_find(w.gate.asks, told(&w, 0, "ask")));
        check_true("the next asks again", gate_ask(&w.sandbox, &q, on_answer, waiters) != NULL);
        check_uint("asked twice", json_array_size(w.told), 2);
        world_done(&w);
}

TEST(other_objects) {
        EgressQuestion a = question(EGRESS_HTTPS, "a.test", 443), b = question(EGRESS_HTTPS, "a.test", 444);
        Waiter one = { 0 }, two = { 0 };
        World w;

        world_init(&w, 60);
        (void) gate_ask(&w.sandbox, &a, on_answer, &one);
        (void) gate_ask(&w.sandbox, &b, on_answer, &two);
        check_uint("two", json_array_size(w.told), 2);
        asks_answer(w.gate.asks, told(&w, 1, "ask"), false);
        check_true("only its own", one.calls == 0 && two.calls == 1 && !two.allow && two.reason == EGRESS_NOT_APPROVED);
        world_done(&w);
}

TEST(cancelled_by_another_waiter) {
        EgressQuestion q = question(EGRESS_HTTPS, "a.test", 443);
        Waiter one = { 0 }, two = { 0 };
        World w;

        world_init(&w, 60);
        (void) gate_ask(&w.sandbox, &q, on_answer, &one);
        one.cancels = gate_ask(&w.sandbox, &q, on_answer, &two);
        asks_answer(w.gate.asks, told(&w, 0, "ask"), true);
        check_true("the other is not told", one.calls == 1 && two.calls == 0);
        world_done(&w);
}

TEST(expires) {
        EgressQuestion q = question(EGRESS_HTTPS, "a.test", 443);
        Waiter one = { 0 };
        World w;

        world_init(&w, 0.05);
        (void) gate_ask(&w.sandbox, &q, on_answer, &one);
        for (unsigned i = 0; i < 200 && one.calls == 0; i++)
                turn(&w, 50 * USEC_PER_MSEC);
        check_true("no", one.calls == 1 && !one.allow && one.reason == EGRESS_ASK_TIMEOUT);
        check_string("told", told(&w, 1, "event"), "expired");
        check_string("which", told(&w, 1, "ask"), told(&w, 0, "ask"));
        asks_answer(w.gate.asks, told(&w, 0, "ask"), true); /* too late */
        check_uint("once", one.calls, 1);
        world_done(&w);
}

TEST(nobody_there) {
        EgressQuestion q = question(EGRESS_HTTPS, "a.test", 443);
        Waiter one = { 0 };
        World w;

        world_init(&w, 60);
        w.gate.control_fd = -EBADF;
        check_true("cannot ask", !gate_ask(&w.sandbox, &q, on_answer, &one));
        check_uint("nothing told", json_array_size(w.told), 0);
        world_done(&w);
}

TEST(bounded) {
        Waiter one = { 0 };
        unsigned asked = 0, waiting = 0;
        EgressQuestion q;
        char host[32];
        World w;

        world_init(&w, 60);
        for (unsigned i = 0; i < 1000; i++) {
                (void) snprintf(host, sizeof(host), "h%u.test", i);
                q = question(EGRESS_HTTPS, host, 443);
                asked += gate_ask(&w.sandbox, &q, on_answer, &one) != NULL;
        }
        check_uint("objects", asked, ASKS_MAX);
        q = question(EGRESS_HTTPS, "h0.test", 443);
        for (unsigned i = 0; i < 1000; i++)
                waiting += gate_ask(&w.sandbox, &q, on_answer, &one) != NULL;
        check_uint("waiters", waiting, ASK_WAITERS_MAX - 1);
        world_done(&w);
}

TEST(late_yes_is_kept_once) {
        EgressQuestion q = question(EGRESS_HTTPS, "a.test", 443);
        Waiter one = { 0 }, two = { 0 }, three = { 0 };
        World w;

        world_init(&w, 60);
        ask_cancel(gate_ask(&w.sandbox, &q, on_answer, &one));
        asks_answer(w.gate.asks, told(&w, 0, "ask"), true);
        check_true("waits", gate_ask(&w.sandbox, &q, on_answer, &two) != NULL);
        check_uint("not from within", two.calls, 0);
        turn(&w, 0);
        check_true("yes", two.calls == 1 && two.allow && one.calls == 0);
        (void) gate_ask(&w.sandbox, &q, on_answer, &three);
        turn(&w, 0);
        check_uint("used up", three.calls, 0);
        check_uint("asked again", json_array_size(w.told), 2);
        world_done(&w);
}

TEST(yes_to_a_name_is_good_for_one_connection) {
        EgressQuestion name = question(EGRESS_DNS, "a.test", 0), q = question(EGRESS_HTTPS, "a.test", 443),
                       other = question(EGRESS_HTTPS, "b.test", 443);
        Waiter waiters[6] = { 0 };
        World w;

        world_init(&w, 60);
        (void) gate_ask(&w.sandbox, &name, on_answer, waiters);
        asks_answer(w.gate.asks, told(&w, 0, "ask"), true);
        check_true("lookup", waiters[0].calls == 1 && waiters[0].allow);
        (void) gate_ask(&w.sandbox, &name, on_answer, waiters + 1);
        (void) gate_ask(&w.sandbox, &name, on_answer, waiters + 2);
        (void) gate_ask(&w.sandbox, &q, on_answer, waiters + 3);
        turn(&w, 30 * USEC_PER_MSEC);
        check_true("lookups", waiters[1].calls == 1 && waiters[2].calls == 1);
        check_true("one connection", waiters[3].calls == 1 && waiters[3].allow);
        (void) gate_ask(&w.sandbox, &q, on_answer, waiters + 4);
        (void) gate_ask(&w.sandbox, &other, on_answer, waiters + 5);
        turn(&w, 30 * USEC_PER_MSEC);
        check_true("no second, no other", waiters[4].calls == 0 && waiters[5].calls == 0);
        world_done(&w);
}

TEST(approved_and_cancelled) {
        EgressQuestion q = question(EGRESS_HTTPS, "a.test", 443);
        Waiter one = { 0 };
        World w;

        world_init(&w, 60);
        ask_cancel(gate_ask(&w.sandbox, &q, on_answer, &one));
        asks_answer(w.gate.asks, told(&w, 0, "ask"), true);
        ask_cancel(gate_ask(&w.sandbox, &q, on_answer, &one));
        turn(&w, 20 * USEC_PER_MSEC);
        check_uint("not told", one.calls, 0);
        world_done(&w);
}
