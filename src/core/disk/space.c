/* space.c: checks the free space of the state directory's disk. */

#include <string.h>
#include <sys/statvfs.h>

#include "core/manager.h"
#include "core/settings.h"

#define LOOK_EVERY (1 * USEC_PER_SEC)
#define LOOK_CLOSELY (20 * USEC_PER_MSEC)
#define PLENTY       4 /* times the reserve */
#define FLOOR_BYTES (UINT64_C(1) << 20)
#define FLOOR_SHARE 64 /* on a small disk, 1/64 of it */

static void space_look(Manager *m, usec_t every) {
        usec_t now = clock_usec();
        struct statvfs v;

        if (m->space.looked_at != 0 && now - m->space.looked_at < every)
                return;
        if (statvfs(m->config.state_dir, &v) < 0)
                return; /* the next write reports the error */
        m->space.looked_at = now;
        m->space.free_bytes = (uint64_t) v.f_bavail * v.f_frsize;
        m->space.total_bytes = (uint64_t) v.f_blocks * v.f_frsize;
}

/* The reserve is space for the writes of running work, and at most half of the disk. */
static uint64_t space_reserve(const Manager *m) {
        return MIN_OF(core_settings(m->settings).limits->disk_reserve_bytes, m->space.total_bytes / 2);
}

/* Every command asks. While there is plenty, a moment ago is as good. */
static void space_look_closely(Manager *m) {
        space_look(m, m->space.free_bytes / PLENTY > space_reserve(m) ? LOOK_CLOSELY : 0);
}

uint64_t manager_space(Manager *m, uint64_t *ret_reserve) {
        space_look_closely(m);
        *ret_reserve = space_reserve(m);
        return m->space.looked_at == 0 ? UINT64_MAX : m->space.free_bytes;
}

static bool space_has(const Manager *m, uint64_t more) {
        uint64_t reserve = space_reserve(m);

        return m->space.looked_at == 0 || (m->space.free_bytes >= reserve && m->space.free_bytes - reserve >= more);
}

static int space_check(Manager *m, uint64_t more, usec_t every, Error *reterr) {
        space_look(m, every);
        if (!space_has(m, more))
                space_look(m, /* every= */ 0); /* no request is refused on an outdated value */
        if (space_has(m, more))
                return 0;
        return error_set(reterr, -ENOSPC,
                        "the disk is full: %llu MB are free in '%s' and %llu MB are kept for what runs already, so no new work is accepted; "
                        "make room, or lower limits.diskReserve",
                        (unsigned long long) m->space.free_bytes >> 20, m->config.state_dir, (unsigned long long) space_reserve(m) >> 20);
}

int manager_check_space(Manager *m, Error *reterr) {
        return space_check(m, /* more= */ 0, LOOK_EVERY, reterr);
}

int manager_check_space_for(Manager *m, uint64_t more, Error *reterr) {
        return space_check(m, more, /* every= */ 0, reterr);
}

int manager_check_room(Manager *m, Error *reterr) {
        space_look_closely(m);
        if (m->space.looked_at == 0 || m->space.free_bytes >= MIN_OF(FLOOR_BYTES, m->space.total_bytes / FLOOR_SHARE))
                return 0;
        return error_set(reterr, -ENOSPC, "the disk is full: %llu kB are free in '%s', so nothing can be started; free disk space: existing sandboxes can be stopped and deleted",
                        (unsigned long long) m->space.free_bytes >> 10, m->config.state_dir);
}
