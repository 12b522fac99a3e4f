/* calendar.c: detects that the wall clock was set, and for how long its ages must not be trusted. */

#include "base/log.h"
#include "core/manager.h"

#define JUMP_USEC  (300 * USEC_PER_SEC)  /* an operator or NTP corrects gradually, not in such steps */
#define DOUBT_USEC (3600 * USEC_PER_SEC) /* time for an operator to correct the clock */

static usec_t boot_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_BOOTTIME, &t); /* counts while the machine sleeps */
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}

bool manager_trusts_calendar(Manager *m) {
        usec_t boot = boot_usec();
        int64_t offset = (int64_t) (clock_wall_usec() - boot), jump = offset - m->calendar_offset;

        if (m->calendar_offset != 0 && (jump > (int64_t) JUMP_USEC || jump < -(int64_t) JUMP_USEC)) {
                log_warning("the calendar was set by %+.0f s: nothing is removed because of its age for an hour", (double) jump / 1e6);
                m->calendar_doubted_until = boot + DOUBT_USEC;
        }
        m->calendar_offset = offset;
        return boot >= m->calendar_doubted_until;
}
