/* turn.h: long work in slices, one per turn of the loop.
 *
 * A deferred source that stays enabled runs before everything else of its priority, in every turn: sd-event
 * dispatches the source that has been pending longest, and such a source never stops being pending. A long job of
 * that kind blocks the loop until its end. This is a timer that has elapsed: it is queued behind the sources that
 * became pending before it.
 * Knows sd-event only. */
#pragma once

#include <systemd/sd-event.h>

/* Disabled at first. The handler does one slice, and calls turn_again() while there is work left. */
static inline int turn_new(sd_event *event, sd_event_source **ret, sd_event_time_handler_t handler, void *userdata) {
        int r = sd_event_add_time(event, ret, CLOCK_MONOTONIC, /* usec= */ 0, /* accuracy= */ 1, handler, userdata);

        return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

static inline int turn_again(sd_event_source *source) {
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}
