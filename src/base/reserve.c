#include "base/reserve.h"

#include <errno.h>
#include <sys/resource.h>

static struct {
        rlim_t all, everybody; /* all 0: there is none */
        unsigned depth;
} reserve;

static int reserve_set(rlim_t soft) {
        int saved = errno, r;

        r = setrlimit(RLIMIT_NOFILE, &(struct rlimit) { .rlim_cur = soft, .rlim_max = reserve.all }) < 0 ? -errno : 0;
        errno = saved;
        return r;
}

int reserve_make(size_t all, size_t n) {
        int r;

        if (n >= all)
                return -EINVAL;
        reserve.all = all;
        reserve.everybody = all - n;
        r = reserve_set(reserve.everybody);
        if (r < 0)
                reserve.all = 0;
        return r;
}

bool reserve_enter(void) {
        if (reserve.all > 0 && reserve.depth++ == 0)
                (void) reserve_set(reserve.all);
        return reserve.all > 0;
}

void reserve_leave(const bool *held) {
        if (*held && --reserve.depth == 0)
                (void) reserve_set(reserve.everybody);
}
