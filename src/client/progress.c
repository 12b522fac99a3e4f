#include "client/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/macro.h"
#include "client/human.h"

#define SILENCE  USEC_PER_SEC
#define INTERVAL (200 * USEC_PER_MSEC)

void progress_begin(Progress *p, const char *name, uint64_t total) {
        *p = (Progress) { .enabled = isatty(STDERR_FILENO), .name = name, .total = total, .began = clock_usec() };
}

static void progress_show(Progress *p, usec_t now) {
        char done[HUMAN_MAX], total[HUMAN_MAX], rate[HUMAN_MAX];
        _cleanup_free_ char *name = human_clean(p->name);

        (void) human_size((double) p->done, done);
        (void) human_size((double) p->total, total);
        (void) human_size((double) p->done * USEC_PER_SEC / (double) (now - p->began), rate);
        if (p->total != PROGRESS_UNKNOWN && p->total > 0)
                fprintf(stderr, "\r\033[K%.40s  %s of %s (%llu%%)  %s/s", name ? name : "", done, total,
                                (unsigned long long) (100.0 * (double) p->done / (double) p->total), rate);
        else
                fprintf(stderr, "\r\033[K%.40s  %s  %s/s", name ? name : "", done, rate);
        p->shown = true;
        p->last = now;
}

void progress_add(Progress *p, uint64_t bytes) {
        usec_t now;

        p->done += bytes;
        if (!p->enabled)
                return;
        now = clock_usec();
        if (now > p->began + SILENCE && now > p->last + INTERVAL)
                progress_show(p, now);
}

void progress_end(Progress *p) {
        if (p->shown)
                fprintf(stderr, "\r\033[K");
        p->shown = false;
}
