/* scale-room.c: has the machine room for so many sandboxes? Memory, processes, what the daemon allows. */

#include <fcntl.h>
#include <sys/resource.h>

#include "base/fd.h"
#include "scale.h"

#define ROOM_EACH_FIRST  (1792u << 10) /* bytes of a sandbox, before any was measured */
#define ROOM_LEFT        (1ll << 30)   /* bytes that stay free */
#define ROOM_TASKS       2u            /* of each */
#define ROOM_AHEAD       64u           /* made ahead, being removed */

/* Beside the idle ones. */
static size_t extra(const ScaleBench *b) {
        return SCALE_WORK + b->storm + ROOM_AHEAD;
}

static size_t files_limit(void) {
        struct rlimit limit;

        return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : (size_t) limit.rlim_max;
}

static int64_t bytes_each(const ScaleBench *b) {
        int64_t each = 0;

        for (size_t i = 0; i < b->n_levels; i++)
                if (b->levels[i].done && b->levels[i].live >= 100)
                        each = b->levels[i].memory.available / (int64_t) b->levels[i].live * 5 / 4;
        return each > 0 ? each : ROOM_EACH_FIRST;
}

static size_t live_now(const ScaleBench *b) {
        size_t live = 0;

        for (size_t i = 0; i < b->n_levels; i++)
                if (b->levels[i].done)
                        live = b->levels[i].live;
        return live;
}

static int room_memory(const ScaleBench *b, size_t live, Error *reterr) {
        int64_t wanted = (int64_t) (live - live_now(b) + b->storm) * bytes_each(b) + ROOM_LEFT;
        MemoryKinds now;
        int r;

        r = kinds_read(&now);
        if (r < 0)
                return r;
        if (now.available >= wanted)
                return 0;
        return error_set(reterr, -ENOMEM, "memory: %.1f GiB more are needed, %.1f are available", (double) wanted / (1 << 30),
                        (double) now.available / (1 << 30));
}

static int room_tasks(const ScaleBench *b, size_t live, Error *reterr) {
        static const char *const files[] = { "/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max" };
        size_t wanted = (live + extra(b)) * ROOM_TASKS;

        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                uint64_t most;

                if (file_read_uint64(AT_FDCWD, files[i], &most) >= 0 && most < wanted)
                        return error_set(reterr, -EAGAIN, "processes: %zu are needed, %s is %llu (sysctl)", wanted, files[i],
                                        (unsigned long long) most);
        }
        return 0;
}

/* The daemon knows how many it can have: open files and ranges of user ids are in that. */
static int room_cap(const ScaleBench *b, size_t live, size_t cap, Error *reterr) {
        size_t wanted = live + extra(b);

        if (cap == 0 || wanted <= cap)
                return 0;
        return error_set(reterr, -EMFILE, "the daemon's cap: %zu are needed with those of the storms, %zu is the cap (%zu open files: ulimit -Hn)",
                        wanted, cap, files_limit());
}

int scale_room(const ScaleBench *b, size_t live, size_t cap, Error *reterr) {
        int r;

        r = room_cap(b, live, cap, reterr);
        if (r >= 0)
                r = room_tasks(b, live, reterr);
        if (r >= 0)
                r = room_memory(b, live, reterr);
        return r;
}
