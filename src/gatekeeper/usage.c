/* usage.c: traffic counts. The gate counts from each attach; the counts from before are the base. Some
 * sandboxes are asked per second, in turn; the gate sends the last counts when a sandbox ends. */

#include <string.h>

#include "base/log.h"
#include "gatekeeper/internal.h"

#define LOOK_EVERY   (1 * USEC_PER_SEC)
#define LOOKS_AT_ONCE 16

static void gatekeeper_usage_put(Seat *s) {
        int r = store_network_use_put(s->keeper->manager->store, &s->use);

        if (r < 0 && r != -ENOENT)
                log_warning("sandbox %s: cannot save its network usage, ignoring: %s", s->id, strerror(-r));
}

static void gatekeeper_usage_show(Seat *s) {
        Sandbox *sb = s->sandbox;

        sb->network_tx_bytes = s->use.total.up_bytes;
        sb->network_rx_bytes = s->use.total.down_bytes;
        sb->network_requests = s->use.total.requests;
        sb->network_denied = s->use.total.denied;
}

static int load_one(const NetworkUse *use, void *userdata) {
        Seat *s = seat_find(userdata, use->sandbox);

        if (!s)
                return 0;
        s->use = *use;
        gatekeeper_usage_show(s);
        return 0;
}

int usage_load(Gatekeeper *k) {
        return store_network_use_each(k->manager->store, load_one, k);
}

void usage_attached(Seat *s) {
        s->use.base = s->use.total;
        gatekeeper_usage_put(s);
}

static uint64_t gatekeeper_usage_count_of(json_t *usage, const char *key) {
        json_int_t n = json_integer_value(json_object_get(usage, key));

        return n > 0 ? (uint64_t) n : 0;
}

static uint64_t gatekeeper_usage_since(uint64_t now, uint64_t before) {
        return now > before ? now - before : 0;
}

/* The gate counts from the attach that it knows: a lower count comes from another gate or another attach. */
static void gatekeeper_usage_charge_cpu(Seat *s, uint64_t usec) {
        Gatekeeper *k = s->keeper;

        ledger_add(k->manager, &k->cpu, s->sandbox->spec.tenant, LEDGER_GATE_CPU, (int64_t) (usec < s->cpu_usec ? usec : usec - s->cpu_usec));
        s->cpu_usec = usec;
}

void usage_told(Seat *s, json_t *usage) {
        const NetworkCounts *base = &s->use.base, before = s->use.total;
        const NetworkCounts now = {
                .up_bytes = MAX_OF(base->up_bytes + gatekeeper_usage_count_of(usage, "up"), before.up_bytes),
                .down_bytes = MAX_OF(base->down_bytes + gatekeeper_usage_count_of(usage, "down"), before.down_bytes),
                .requests = MAX_OF(base->requests + gatekeeper_usage_count_of(usage, "requests"), before.requests),
                .denied = MAX_OF(base->denied + gatekeeper_usage_count_of(usage, "denied"), before.denied),
        };
        const NetworkNews news = {
                .kind = "traffic",
                .up_bytes = gatekeeper_usage_since(now.up_bytes, before.up_bytes),
                .down_bytes = gatekeeper_usage_since(now.down_bytes, before.down_bytes),
                .requests = gatekeeper_usage_since(now.requests, before.requests),
        };

        gatekeeper_usage_charge_cpu(s, gatekeeper_usage_count_of(usage, "cpu"));
        if (!json_is_object(usage) || memcmp(&now, &before, sizeof(now)) == 0)
                return;
        s->use.total = now;
        gatekeeper_usage_put(s);
        gatekeeper_usage_show(s);
        observe_network(s->keeper->manager, s->sandbox, &news);
}

void usage_ask(Seat *s) {
        uint64_t serial;

        if (!s->at_gate || question_add(s, QUESTION_USAGE, &serial) < 0)
                return;
        if (link_send(s->keeper, json_pack("{s:s, s:I, s:s}", "do", "usage", "serial", (json_int_t) serial, "id", s->id), NULL, 0) < 0)
                question_drop(s->keeper, serial);
}

/* Continues where the last round stopped, or at the beginning if that seat is gone. */
static int gatekeeper_usage_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Gatekeeper *k = userdata;
        Seat *s = seat_find(k, k->usage_next);

        if (!s)
                s = k->seats;
        for (unsigned i = 0; s && i < LOOKS_AT_ONCE; i++, s = s->hh.next)
                usage_ask(s);
        memset(k->usage_next, 0, sizeof(k->usage_next));
        if (s)
                memcpy(k->usage_next, s->id, sizeof(k->usage_next));
        (void) sd_event_source_set_time_relative(source, LOOK_EVERY);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int usage_start(Gatekeeper *k) {
        return sd_event_add_time_relative(k->manager->event, &k->usage_timer, CLOCK_MONOTONIC, LOOK_EVERY, 0, gatekeeper_usage_on_timer, k);
}
