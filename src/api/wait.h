/* wait.h: requests that wait for a state of an object: the end of an execution, a build or a job.
 *
 * The waiting code puts an ApiWait first in its state, watches the object, and calls api_wait_over() when the
 * state is reached. The request is answered once, then or at the timeout, with the object as it is at that
 * time. A client that leaves earlier gets no answer. Long work before an answer is done in slices, one per
 * turn of the loop, so that other requests get their turns.
 * Must not know: what is waited for, how it is watched, a dialect. */
#pragma once

#include "api/surface.h"

typedef struct ApiWait ApiWait;

typedef struct ApiWaitKind {
        void (*stop)(ApiWait *w);   /* stops watching; may be called without a watch */
        void (*answer)(ApiWait *w);
        void (*left)(ApiWait *w);   /* the client has left before an answer; may be NULL */
} ApiWaitKind;

struct ApiWait {
        ApiRequest *q;
        const ApiWaitKind *kind;
        sd_event_source *timer;
        bool over;
};

/* Allocates the request's state, which begins with the wait. USEC_INFINITY: no timeout. NULL: has been
 * answered. */
void *api_wait_new(ApiRequest *q, size_t size, const ApiWaitKind *kind, usec_t timeout);
/* The same for a request with another state: the caller keeps the wait, and calls api_wait_done(). */
int api_wait_start(ApiWait *w, ApiRequest *q, const ApiWaitKind *kind, usec_t timeout);
void api_wait_done(ApiWait *w);

void api_wait_over(ApiWait *w);

typedef struct ApiSlices {
        ApiRequest *q;
        int (*slice)(ApiRequest *q); /* 1: there is more to do; else it has answered */
        sd_event_source *turn;
} ApiSlices;

/* Part of a request's state, which must stop it at the end of the request. */
int api_slices_start(ApiSlices *s, ApiRequest *q, int (*slice)(ApiRequest *q));
void api_slices_stop(ApiSlices *s);
