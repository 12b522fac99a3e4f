#include "init/stop.h"

#include <signal.h>

#include "init/sudo.h"
#include "init/tree.h"

#define AGAIN_USEC (20 * USEC_PER_MSEC)

static void signal_all(Executions *x, int signal_number) {
        executions_signal(x, signal_number);
        sudo_signal_all(x->pool.setting.board, signal_number);
}

void stop_begin(Stop *s, Executions *x, usec_t grace_usec) {
        usec_t now = clock_usec();

        s->active = true;
        s->killing = false;
        s->deadline = grace_usec < USEC_INFINITY - now ? now + grace_usec : USEC_INFINITY;
        if (grace_usec > 0)
                signal_all(x, SIGTERM);
}

void stop_orphans(Stop *s) {
        s->orphans = true;
        s->again = 0;
}

usec_t stop_next(const Stop *s) {
        return MIN_OF(s->deadline, s->again);
}

static bool stop_is_over(const Stop *s, const Executions *x) {
        return s->active && !s->orphans && pool_count_busy(&x->pool) == 0 && tree_count_guests() == 0;
}

bool stop_step(Stop *s, Executions *x) {
        usec_t now;

        if (!s->active && !s->orphans)
                return false;
        if (stop_is_over(s, x)) {
                *s = (Stop) STOP_EMPTY;
                return true;
        }

        now = clock_usec();
        if (now < stop_next(s))
                return false;
        if (now >= s->deadline) {
                s->killing = true;
                s->deadline = USEC_INFINITY;
        }
        if (s->killing)
                signal_all(x, SIGKILL);
        if (s->killing || s->orphans) /* processes without a shim are PID 1's: nothing else could end them */
                s->orphans = tree_kill() != 0;
        s->again = s->killing || s->orphans ? now + AGAIN_USEC : USEC_INFINITY;
        return false;
}
