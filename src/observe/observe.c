#include "observe/observe.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/store.h"
#include "observe/internal.h"

static void on_transaction(usec_t duration, void *userdata) {
        metric_observe(userdata, METRIC_STORE_SECONDS, NULL, (double) duration / USEC_PER_SEC);
}

DEFINE_CLEANUP(Observe, observe_free)

int observe_new(Manager *m, Observe **ret, Error *reterr) {
        _cleanup_(observe_freep) Observe *o = calloc(1, sizeof(*o));
        int r;

        if (!o)
                return error_set(reterr, -ENOMEM, "out of memory");
        o->manager = m;
        r = history_load(o);
        if (r < 0)
                return error_set(reterr, r, "the history of metrics cannot be read: %m");
        r = history_start(o);
        if (r >= 0)
                r = sampler_start(o);
        if (r < 0)
                return error_set(reterr, r, "cannot make a timer: %m");
        observe_hook(o);
        (void) observe_set_source(o, SIGNAL_QUEUE_DEPTH, gauge_waiting, o); /* the agents add their number */
        (void) observe_set_source(o, SIGNAL_POOL_WAIT, gauge_longest_wait, o);
        store_set_timing(m->store, on_transaction, o);
        *ret = TAKE_PTR(o);
        return 0;
}

Observe *observe_free(Observe *o) {
        if (!o)
                return NULL;
        manager_unobserve(o->manager, &o->observer); /* the core is destroyed next, and must not call this */
        store_set_timing(o->manager->store, NULL, NULL);
        if (o->ticker) {
                (void) usage_flush(o);
                if (history_write(o, clock_wall_usec()) < 0)
                        log_warning("history of metrics: the last row could not be written");
        }
        sd_event_source_disable_unref(o->ticker);
        sd_event_source_disable_unref(o->sampler);
        sd_event_source_disable_unref(o->flusher);
        notes_free(o);
        series_free_all(o);
        usage_forget(o);
        json_decref(o->unwritten);
        free(o);
        return NULL;
}

void observe_set_alerts(Observe *o, ObserveJson active, void *userdata) {
        if (!o)
                return;
        o->alerts = active;
        o->alerts_data = userdata;
}

void observe_set_sweeper(Observe *o, ObserveJson status, void *userdata) {
        if (!o)
                return;
        o->sweeper = status;
        o->sweeper_data = userdata;
}
