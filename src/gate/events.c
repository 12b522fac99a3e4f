#include "gate/events.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

typedef struct GateEventsTold {
        usec_t at;
        unsigned since; /* events suppressed since `at` */
        UT_hash_handle hh;
        char what[]; /* the key; the hash is in the order of `at`, the oldest first */
} GateEventsTold;

struct GateEvents {
        GateEventsTold *told;
};

GateEvents *gate_events_new(void) {
        return calloc(1, sizeof(GateEvents));
}

static void gate_events_forget(GateEvents *e, GateEventsTold *t) {
        HASH_DEL(e->told, t);
        free(t);
}

GateEvents *gate_events_free(GateEvents *e) {
        while (e && e->told)
                gate_events_forget(e, e->told);
        free(e);
        return NULL;
}

static bool is_fresh(const GateEventsTold *t, usec_t now) {
        return now < t->at + EVENTS_QUIET_USEC;
}

static void gate_events_add(GateEvents *e, GateEventsTold *t) {
        HASH_ADD_STR(e->told, what, t);
}

/* Drops the oldest entries, but none whose events must still be suppressed. */
static bool gate_events_make_room(GateEvents *e, usec_t now) {
        while (HASH_COUNT(e->told) >= EVENTS_MAX) {
                if (is_fresh(e->told, now))
                        return false;
                gate_events_forget(e, e->told);
        }
        return true;
}

static unsigned tell_first(GateEvents *e, const char *what, usec_t now) {
        size_t size = strlen(what) + 1;
        GateEventsTold *t;

        if (!gate_events_make_room(e, now))
                return 0;
        t = malloc(sizeof(*t) + size);
        if (!t)
                return 0;
        *t = (GateEventsTold) { .at = now };
        memcpy(t->what, what, size);
        gate_events_add(e, t);
        return 1;
}

unsigned gate_events_count(GateEvents *e, const char *what, usec_t now) {
        unsigned n;
        GateEventsTold *t;

        HASH_FIND_STR(e->told, what, t);
        if (!t)
                return tell_first(e, what, now);
        if (is_fresh(t, now)) {
                t->since++;
                return 0;
        }
        n = t->since + 1;
        t->since = 0;
        t->at = now;
        HASH_DEL(e->told, t); /* moves it to the end of the order */
        gate_events_add(e, t);
        return n;
}
