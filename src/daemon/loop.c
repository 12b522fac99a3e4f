#include "daemon/loop.h"

#include "base/clock.h"

#define SOURCES_MAX 256
#define TURN_MAX    (2 * USEC_PER_MSEC)

typedef struct LoopTurn {
        usec_t began; /* when there was something to settle for the first time; 0: there is nothing */
        unsigned n_sources;
} LoopTurn;

static void loop_end_turn(LoopTurn *t, Settle *settle) {
        settle_end(settle);
        *t = (LoopTurn) { 0 };
}

static bool loop_turn_is_long(LoopTurn *t) {
        usec_t now = clock_usec();

        if (t->began == 0)
                t->began = now;
        return ++t->n_sources >= SOURCES_MAX || now - t->began >= TURN_MAX;
}

/* Waits for the next source, but not before the turn is settled. */
static int loop_wait(sd_event *event, Settle *settle, LoopTurn *t) {
        int r = sd_event_wait(event, settle_pends(settle) ? 0 : UINT64_MAX);

        if (r == 0 && settle_pends(settle))
                loop_end_turn(t, settle);
        return r;
}

int loop_run(sd_event *event, Settle *settle) {
        LoopTurn t = { 0 };
        int r = 0, code = 0;

        while (r >= 0 && sd_event_get_state(event) != SD_EVENT_FINISHED) {
                r = sd_event_prepare(event);
                if (r == 0)
                        r = loop_wait(event, settle, &t);
                if (r > 0)
                        r = sd_event_dispatch(event);
                if (settle_pends(settle) && loop_turn_is_long(&t))
                        loop_end_turn(&t, settle);
        }
        settle_end(settle);
        if (r >= 0)
                r = sd_event_get_exit_code(event, &code);
        return r < 0 ? r : code;
}
