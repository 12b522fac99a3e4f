/* events.c: denied and learned traffic.
 *
 * A guest can cause as many events as it likes. The gate reports a repetition only once in ten seconds. Of
 * different events, a limited number per second is stored for each sandbox; the rest is counted, and reported
 * with the next. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/config.h"
#include "core/mask.h"
#include "gatekeeper/internal.h"

#define TOKENS_MAX     50
#define TOKENS_PER_SEC 10
#define LEARNED_MAX    2000

static const char *gatekeeper_events_text_of(json_t *event, const char *key) {
        return json_string_value(json_object_get(event, key));
}

static uint64_t gatekeeper_events_number_of(json_t *event, const char *key) {
        json_int_t n = json_integer_value(json_object_get(event, key));

        return n > 0 ? (uint64_t) n : 0;
}

/* A guest may know the value of a secret by other means, and put it where events record it. */
void event_hide(const Seat *s, json_t *event) {
        static const char *const keys[] = { "host", "path", "text", "cure", "object" };
        const Mask *mask = s->sandbox->mask;

        for (size_t i = 0; mask && i < ELEMENTSOF(keys); i++) {
                const char *text = gatekeeper_events_text_of(event, keys[i]);
                _cleanup_free_ char *copy = text ? strdup(text) : NULL;
                size_t shown;

                if (!text)
                        continue;
                if (copy && mask_apply(mask, copy, strlen(copy), &shown) >= 0)
                        (void) json_object_set_new(event, keys[i], json_string(copy));
                else
                        (void) json_object_del(event, keys[i]);
        }
}

static bool gatekeeper_events_take_token(Seat *s) {
        usec_t now = clock_usec(), seconds = (now - s->tokens_at) / USEC_PER_SEC;

        if (s->tokens_at == 0) {
                s->tokens = TOKENS_MAX;
                s->tokens_at = now;
        } else if (seconds > 0) {
                s->tokens = (unsigned) MIN_OF((usec_t) TOKENS_MAX, s->tokens + seconds * TOKENS_PER_SEC);
                s->tokens_at = now;
        }
        if (s->tokens == 0)
                return false;
        s->tokens--;
        return true;
}

static usec_t when(json_t *event) {
        uint64_t time = gatekeeper_events_number_of(event, "time");

        return time > 0 ? time : clock_wall_usec();
}

static void gatekeeper_events_write_down(Seat *s, json_t *event, const char *kind, uint64_t count) {
        Manager *m = s->keeper->manager;
        const NetworkDenial row = {
                .sandbox = s->id,
                .at = when(event),
                .kind = kind,
                .protocol = gatekeeper_events_text_of(event, "protocol"),
                .host = gatekeeper_events_text_of(event, "host"),
                .address = gatekeeper_events_text_of(event, "address"),
                .port = (uint32_t) gatekeeper_events_number_of(event, "port"),
                .method = gatekeeper_events_text_of(event, "method"),
                .path = gatekeeper_events_text_of(event, "path"),
                .rule = gatekeeper_events_text_of(event, "rule"),
                .reason = gatekeeper_events_text_of(event, "reason"),
                .text = gatekeeper_events_text_of(event, "text"),
                .cure = gatekeeper_events_text_of(event, "cure"),
                .count = count,
        };
        const char *text = row.text ? row.text : row.host ? row.host : row.address;
        char more[64] = "";
        int r;

        if (s->untold > 0)
                (void) snprintf(more, sizeof(more), " (and %llu more that were not recorded)", (unsigned long long) s->untold);
        (void) store_begin(m->store);
        r = store_denial_add(m->store, &row, m->settings->network.denials_kept);
        if (r >= 0)
                sandbox_event(s->sandbox, strcmp(kind, "masked") == 0 ? "network.masked" : "network.denied", NULL, "%.400s%s", text ? text : "", more);
        r = store_end(m->store, r);
        if (r < 0)
                log_warning("sandbox %s: cannot record a denial, ignoring: %s", s->id, strerror(-r));
        s->untold = 0;
        observe_security(m, "network", s->sandbox, "%.400s%s", text ? text : kind, more);
}

void event_denied(Seat *s, json_t *event) {
        const char *kind = gatekeeper_events_text_of(event, "event"), *reason = gatekeeper_events_text_of(event, "reason");
        uint64_t count = MAX_OF(gatekeeper_events_number_of(event, "count"), (uint64_t) 1);

        if (strcmp(kind, "masked") != 0) {
                s->sandbox->network_denials++;
                (void) snprintf(s->sandbox->network_denial, sizeof(s->sandbox->network_denial), "%s", gatekeeper_events_text_of(event, "text") ?: "");
        }
        /* The gate's own counts come with its usage; this counts by reason. */
        observe_network(s->keeper->manager, s->sandbox, &(NetworkNews) { .kind = "denied", .reason = reason ? reason : "", .count = count });
        if (gatekeeper_events_take_token(s))
                gatekeeper_events_write_down(s, event, kind, count);
        else
                s->untold += count;
}

static const char *or_nothing(const char *text) {
        return text ? text : "";
}

void event_learned(Seat *s, json_t *event) {
        Manager *m = s->keeper->manager;
        const char *host = gatekeeper_events_text_of(event, "host");
        const NetworkLearned row = {
                .sandbox = s->id,
                .protocol = or_nothing(gatekeeper_events_text_of(event, "protocol")),
                .host = or_nothing(host),
                .address = host ? "" : or_nothing(gatekeeper_events_text_of(event, "address")), /* a name has many addresses, one after the other */
                .port = (uint32_t) gatekeeper_events_number_of(event, "port"),
                .method = or_nothing(gatekeeper_events_text_of(event, "method")),
                .count = MAX_OF(gatekeeper_events_number_of(event, "count"), (uint64_t) 1),
                .at = when(event),
        };
        int r;

        if (!gatekeeper_events_take_token(s)) {
                s->untold++;
                return;
        }
        r = store_learned_add(m->store, &row, LEARNED_MAX);
        if (r < 0)
                log_warning("sandbox %s: cannot save what was learned, ignoring: %s", s->id, strerror(-r));
}

int gatekeeper_denial_each(const Manager *m, const char *sandbox, uint64_t before, unsigned limit,
                int (*each)(const NetworkDenial *d, void *userdata), void *userdata) {
        return store_denial_each(m->store, sandbox, before, limit, each, userdata);
}
