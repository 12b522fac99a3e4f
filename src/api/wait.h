/* wait.h: a request that waits for an object to have come so far: an execution's end, a build's, a job's.
 *
 * Whoever waits puts an ApiWait first in its state, watches the object and calls api_wait_over() when it is far enough. The answer is
 * given once: then, or when the time has passed, with the object as it is by then. A client that leaves before gets none.
 * Work before the answer that may take long is done in slices, one in each turn of the loop: others have their turns in between.
 * Must not know: what is waited for, how it is watched, a dialect. */
#pragma once

#include "api/surface.h"

typedef struct ApiWait ApiWait;

typedef struct ApiWaitKind {
        void (*stop)(ApiWait *w);   /* watches no more; also when it never did */
        void (*answer)(ApiWait *w);
        void (*left)(ApiWait *w);   /* the client has, before there was an answer; NULL: so be it */
} ApiWaitKind;

struct ApiWait {
        ApiRequest *q;
        const ApiWaitKind *kind;
        sd_event_source *timer;
        bool over;
};

/* A state of so many bytes for the request, which begins with the wait. USEC_INFINITY: for ever. NULL: has been answered. */
void *api_wait_new(ApiRequest *q, size_t size, const ApiWaitKind *kind, usec_t timeout);
/* The same where the request has another state: the caller keeps it, and says when it goes. */
int api_wait_start(ApiWait *w, ApiRequest *q, const ApiWaitKind *kind, usec_t timeout);
void api_wait_done(ApiWait *w);

void api_wait_over(ApiWait *w);

typedef struct ApiSlices {
        ApiRequest *q;
        int (*slice)(ApiRequest *q); /* 1: there is more to do; else it has answered */
        sd_event_source *turn;
} ApiSlices;

/* In the state of a request, which stops it when the request is over. */
int api_slices_start(ApiSlices *s, ApiRequest *q, int (*slice)(ApiRequest *q));
void api_slices_stop(ApiSlices *s);
