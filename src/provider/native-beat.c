/* native-beat.c: pings cove-spawner when nothing else is heard from it.
 *
 * Its keeper replaces a spawner that hangs (spawner/keeper.h); only the keeper can. This file detects the
 * hang, so that callers who want a sandbox meanwhile get an error, and the health reports it. */

#include "base/log.h"
#include "provider/native-internal.h"

static usec_t beat_interval(const Native *n) {
        return n->config.helper_timeout_usec / BEATS_PER_LIMIT;
}

static void beat_tell(Native *n, usec_t silent) {
        bool hangs = silent >= n->config.helper_timeout_usec / 2;

        if (hangs || n->silent > 0)
                n->provider.events->silent("cove-spawner", hangs ? silent : 0, n->provider.userdata);
        n->silent = hangs ? silent : 0;
}

static int native_beat_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Native *n = userdata;
        bool heard = n->beat.heard;

        beat_tell(n, beat_look(&n->beat, clock_usec(), beat_interval(n), n->pinged));
        if (!heard && !n->pinged && n->up)
                n->pinged = native_request(n, SPAWN_PING, &(SpawnMessage) { 0 }, /* sb= */ NULL, NULL, 0) >= 0;
        (void) sd_event_source_set_time_relative(source, beat_interval(n));
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

void native_beat_heard(Native *n) {
        beat_heard(&n->beat);
        if (n->silent > 0)
                beat_tell(n, 0);
}

void native_beat_answered(Native *n) {
        n->pinged = false;
}

int native_beat_start(Native *n) {
        int r;

        if (n->config.helper_timeout_usec == 0)
                return 0;
        r = sd_event_add_time_relative(n->event, &n->pulse, CLOCK_MONOTONIC, beat_interval(n), beat_interval(n) / 10, native_beat_on_timer, n);
        return r < 0 ? r : sd_event_source_set_priority(n->pulse, SD_EVENT_PRIORITY_NORMAL + 10); /* messages that came meanwhile are read first */
}
