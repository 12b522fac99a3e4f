/* moves.c: the table of legal moves of a sandbox. */

#include <stddef.h>

#include "base/macro.h"
#include "core/status.h"

static const char *const activities[_ACTIVITY_MAX] = {
        [ACTIVITY_NONE]       = "none",
        [ACTIVITY_CONNECTING] = "connecting",
        [ACTIVITY_FREEZING]   = "freezing",
        [ACTIVITY_THAWING]    = "thawing",
        [ACTIVITY_STOPPING]   = "stopping",
        [ACTIVITY_HOLDING]    = "holding",
        [ACTIVITY_HELD]       = "held",
        [ACTIVITY_RELEASING]  = "releasing",
        [ACTIVITY_DRAINING]   = "draining",
        [ACTIVITY_UNLOADING]  = "unloading",
        [ACTIVITY_SYNCING]    = "syncing",
        [ACTIVITY_BOOTING]    = "booting",
        [ACTIVITY_SWAPPING]   = "swapping",
};
static const ShapeNames activity_names = SHAPE_WORDS(activities);

/* A place is a status, or parked. */
#define PLACE_PARKED ((unsigned) _SANDBOX_STATUS_MAX)
#define PLACE_MAX    (PLACE_PARKED + 1)

#define AT(status)     (1u << SANDBOX_##status)
#define PARKED         (1u << PLACE_PARKED)
#define UP             (AT(READY) | AT(RUNNING))
#define DISK_AND_PID_1 (UP | AT(PAUSED) | AT(STOPPED))
#define WITH(activity) (1u << ACTIVITY_##activity)
#define HOLD           (WITH(HOLDING) | WITH(HELD) | WITH(RELEASING))
#define ANY            (~0u)
#define SAME           0u

static const unsigned activities_of_place[PLACE_MAX] = {
        [SANDBOX_INITIALIZING] = WITH(NONE) | WITH(CONNECTING),
        [SANDBOX_READY]        = ANY & ~(WITH(THAWING) | WITH(BOOTING) | WITH(SWAPPING)),
        [SANDBOX_RUNNING]      = ANY & ~(WITH(THAWING) | WITH(BOOTING) | WITH(SWAPPING)),
        [SANDBOX_PAUSED]       = WITH(NONE) | WITH(THAWING) | WITH(UNLOADING) | WITH(SYNCING),
        [SANDBOX_STOPPED]      = WITH(NONE) | HOLD | WITH(UNLOADING) | WITH(SYNCING),
        [SANDBOX_TERMINATING]  = WITH(NONE),
        [SANDBOX_COMPLETED]    = WITH(NONE),
        [SANDBOX_FAILED]       = WITH(NONE),
        [SANDBOX_TERMINATED]   = WITH(NONE),
        [PLACE_PARKED]         = WITH(NONE) | WITH(BOOTING) | WITH(CONNECTING) | WITH(UNLOADING) | WITH(SWAPPING),
};

/* A live sandbox ends only through terminating, so that its objects are removed before its end is reported,
 * even if it never became ready. An ended status is final. */
static const struct {
        unsigned from, during; /* any of these places, with any of these activities */
        unsigned to, then;     /* any of these; SAME: unchanged */
} moves[] = {
        { AT(INITIALIZING), WITH(NONE), SAME, WITH(CONNECTING) },
        { AT(INITIALIZING), ANY, AT(READY), WITH(NONE) },
        { AT(READY), ANY, AT(RUNNING), SAME }, /* executions begin and end during any activity */
        { AT(RUNNING), ANY, AT(READY), SAME },

        { UP, WITH(NONE), SAME, WITH(CONNECTING) | WITH(FREEZING) | WITH(STOPPING) | WITH(DRAINING) },
        { UP, WITH(CONNECTING) | WITH(FREEZING), SAME, WITH(NONE) },
        { UP, WITH(FREEZING), AT(PAUSED), WITH(NONE) },
        { UP, WITH(STOPPING), AT(STOPPED), WITH(NONE) },
        { AT(PAUSED), WITH(NONE), SAME, WITH(THAWING) },
        { AT(PAUSED), WITH(THAWING), SAME, WITH(NONE) },
        { AT(PAUSED), WITH(NONE) | WITH(THAWING), UP, WITH(NONE) }, /* from none: recover.c thaws a sandbox that does not answer */
        { AT(STOPPED), WITH(NONE) | HOLD, AT(READY), SAME },

        { UP | AT(STOPPED), WITH(NONE), SAME, WITH(HOLDING) },
        { UP | AT(STOPPED), WITH(HOLDING), SAME, WITH(HELD) | WITH(NONE) },
        { UP | AT(STOPPED), WITH(HELD), SAME, WITH(RELEASING) },
        { UP | AT(STOPPED), WITH(RELEASING), SAME, WITH(NONE) },

        { DISK_AND_PID_1, ~(WITH(UNLOADING) | WITH(SYNCING)), SAME, WITH(UNLOADING) }, /* PID 1 may die at any moment */
        { DISK_AND_PID_1, WITH(UNLOADING), SAME, WITH(SYNCING) },
        { DISK_AND_PID_1, WITH(SYNCING), PARKED, WITH(NONE) },
        { PARKED, WITH(NONE), SAME, WITH(BOOTING) | WITH(SWAPPING) },
        { PARKED, WITH(BOOTING), SAME, WITH(CONNECTING) },
        { PARKED, WITH(BOOTING) | WITH(CONNECTING), AT(READY), WITH(NONE) },
        { PARKED, WITH(BOOTING) | WITH(CONNECTING), SAME, WITH(UNLOADING) | WITH(NONE) },
        { PARKED, WITH(UNLOADING) | WITH(SWAPPING), SAME, WITH(NONE) },

        { AT(INITIALIZING) | DISK_AND_PID_1 | PARKED, ANY, AT(TERMINATING), WITH(NONE) },
        { AT(TERMINATING), WITH(NONE), AT(COMPLETED) | AT(FAILED) | AT(TERMINATED), WITH(NONE) },
};

static unsigned place_of(SandboxState s) {
        return s.status == SANDBOX_PAUSED && s.parked ? PLACE_PARKED : (unsigned) s.status;
}

const char *sandbox_activity_name(SandboxActivity a) {
        return shape_name(&activity_names, (int) a);
}

bool sandbox_state_is_valid(SandboxState s) {
        return (int) s.status >= 0 && s.status < _SANDBOX_STATUS_MAX && (int) s.activity >= 0 && s.activity < _ACTIVITY_MAX &&
                        (activities_of_place[place_of(s)] & 1u << s.activity);
}

bool sandbox_state_may_become(SandboxState from, SandboxState to) {
        unsigned place, activity, next_place, next_activity;

        if (!sandbox_state_is_valid(from) || !sandbox_state_is_valid(to))
                return false;
        place = 1u << place_of(from);
        activity = 1u << from.activity;
        next_place = 1u << place_of(to);
        next_activity = 1u << to.activity;
        for (size_t i = 0; i < ELEMENTSOF(moves); i++)
                if ((moves[i].from & place) && (moves[i].during & activity) && ((moves[i].to == SAME ? place : moves[i].to) & next_place) &&
                                ((moves[i].then == SAME ? activity : moves[i].then) & next_activity))
                        return true;
        return false;
}
