/* clock.h: microseconds as one unsigned type. Knows libc only. */
#pragma once

#include <stdint.h>
#include <time.h>

typedef uint64_t usec_t;

#define USEC_INFINITY UINT64_MAX
#define USEC_PER_SEC  ((usec_t) 1000000)
#define USEC_PER_MSEC ((usec_t) 1000)

static inline usec_t clock_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}

/* Calendar time since 1970: for people, and for times that must stay valid across a reboot. */
static inline usec_t clock_wall_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_REALTIME, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}
