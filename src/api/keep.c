/* keep.c: requests that are kept until an event, and their state meanwhile. */

#include <errno.h>
#include <stdlib.h>

#include "api/wait.h"
#include "core/turn.h"

void *api_keep_state(ApiRequest *q, size_t size, void (*destroy)(ApiRequest *q, bool answered)) {
        void *state = calloc(1, size);

        if (!state) {
                (void) api_errno(q, -ENOMEM, NULL);
                return NULL;
        }
        q->state = q->kept = state;
        q->destroy = destroy;
        return state;
}

void api_let_go(ApiRequest *q, bool answered) {
        if (q->destroy)
                q->destroy(q, answered);
        q->state = NULL;
        q->destroy = NULL;
        free(TAKE_PTR(q->kept));
}

/* Waiting. */

static void wait_stop(ApiWait *w) {
        w->over = true;
        w->timer = sd_event_source_disable_unref(w->timer);
        w->kind->stop(w);
}

void api_wait_over(ApiWait *w) {
        if (w->over)
                return;
        wait_stop(w);
        w->kind->answer(w);
}

static int wait_on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        api_wait_over(userdata);
        return 0;
}

int api_wait_start(ApiWait *w, ApiRequest *q, const ApiWaitKind *kind, usec_t timeout) {
        *w = (ApiWait) { .q = q, .kind = kind };
        if (timeout == USEC_INFINITY)
                return 0;
        return sd_event_add_time_relative(q->manager->event, &w->timer, CLOCK_MONOTONIC, timeout, USEC_PER_MSEC, wait_on_timeout, w);
}

void api_wait_done(ApiWait *w) {
        bool left = !w->over;

        wait_stop(w);
        if (left && w->kind->left)
                w->kind->left(w);
}

static void wait_destroy(ApiRequest *q, bool answered) {
        api_wait_done(q->state);
}

void *api_wait_new(ApiRequest *q, size_t size, const ApiWaitKind *kind, usec_t timeout) {
        ApiWait *w = api_keep_state(q, size, wait_destroy);
        int r = w ? api_wait_start(w, q, kind, timeout) : -ENOMEM;

        if (w && r < 0) {
                w->over = true;
                (void) api_errno(q, r, "cannot wait for it");
        }
        return r < 0 ? NULL : w;
}

/* Slices. */

static int slices_on_turn(sd_event_source *source, uint64_t usec, void *userdata) {
        ApiSlices *s = userdata;

        return s->slice(s->q) > 0 ? turn_again(source) : 0;
}

int api_slices_start(ApiSlices *s, ApiRequest *q, int (*slice)(ApiRequest *q)) {
        int r;

        *s = (ApiSlices) { .q = q, .slice = slice };
        r = turn_new(q->manager->event, &s->turn, slices_on_turn, s);
        return r < 0 ? r : turn_again(s->turn);
}

void api_slices_stop(ApiSlices *s) {
        s->turn = sd_event_source_disable_unref(s->turn);
}
