/* turn.h: long work, a slice in each turn of the loop.
 *
 * A deferred source that stays enabled goes before everything else of its priority, in every turn: sd-event serves first who has waited longest, and such
 * a one never stops waiting. A long job of that kind holds the loop until its end. This is a timer whose time has come: it stands in line behind what has
 * come before it.
 * Knows sd-event only. */
#pragma once

#include <systemd/sd-event.h>

/* Off at first. The handler works for a moment, and asks for one more turn while there is something left. */
static inline int turn_new(sd_event *event, sd_event_source **ret, sd_event_time_handler_t handler, void *userdata) {
        int r = sd_event_add_time(event, ret, CLOCK_MONOTONIC, /* usec= */ 0, /* accuracy= */ 1, handler, userdata);

        return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

static inline int turn_again(sd_event_source *source) {
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}
