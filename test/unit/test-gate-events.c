/* What is told again, and what is counted. */
#include <stdio.h>

#include "gate/events.h"
#include "unit.h"

#define SECOND USEC_PER_SEC

TEST(repetitions_are_counted) {
        GateEvents *e = gate_events_new();
        usec_t now = 100 * SECOND;

        check_uint("first", gate_events_count(e, "a", now), 1);
        for (unsigned i = 0; i < 41; i++)
                check_uint("again", gate_events_count(e, "a", now + i), 0);
        check_uint("another", gate_events_count(e, "b", now), 1);
        check_uint("just before", gate_events_count(e, "a", now + EVENTS_QUIET_USEC - 1), 0);
        check_uint("with those before", gate_events_count(e, "a", now + EVENTS_QUIET_USEC), 43);
        check_uint("and quiet again", gate_events_count(e, "a", now + EVENTS_QUIET_USEC + 1), 0);
        gate_events_free(e);
}

TEST(bounded) {
        GateEvents *e = gate_events_new();
        usec_t now = 100 * SECOND;
        unsigned told = 0;
        char what[32];

        for (unsigned i = 0; i < 100000; i++) {
                (void) snprintf(what, sizeof(what), "thing %u", i);
                told += gate_events_count(e, what, now + i);
        }
        check_uint("so many at most", told, EVENTS_MAX);
        check_uint("known ones are still known", gate_events_count(e, "thing 7", now + 200000), 0);
        check_uint("later there is room", gate_events_count(e, "thing 99999", now + 2 * EVENTS_QUIET_USEC), 1);
        check_uint("the oldest were forgotten", gate_events_count(e, "thing 7", now + 2 * EVENTS_QUIET_USEC), 2);
        gate_events_free(e);
}
