/* expire.c: deletes artifacts in the directory by age, and for room: the oldest of the heaviest tenant first.
 * A bucket expires its own content. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/internal.h"
#include "base/log.h"
#include "artifact/rows.h"

#define INTERVAL (60 * USEC_PER_SEC)
#define BATCH    50

typedef struct Batch {
        Artifacts *artifacts;
        char ids[BATCH][ARTIFACT_ID_LENGTH + 1];
        size_t n;
        uint64_t wanted, bytes; /* stops when `bytes` reaches `wanted` */
        unsigned n_undelivered;
} Batch;

static int expire_collect(const Artifact *row, void *userdata) {
        Batch *b = userdata;

        if (b->bytes >= b->wanted)
                return -ECANCELED;
        memcpy(b->ids[b->n++], row->id, sizeof(row->id));
        b->bytes += row->size;
        b->n_undelivered += row->state == ARTIFACT_PENDING || row->state == ARTIFACT_FAILED;
        return 0;
}

/* Returns the number of removed artifacts; 0 if the store cannot be written, as on a full disk. The caller
 * tries again later, and not at once. */
static size_t remove_oldest(Artifacts *a, const char *tenant, usec_t before, uint64_t wanted) {
        Batch b = { .artifacts = a, .wanted = wanted };
        int r = store_artifact_oldest(a->manager->store, tenant, before, BATCH, expire_collect, &b);
        size_t n = 0;

        if (r < 0 && r != -ECANCELED)
                return 0;
        for (size_t i = 0; i < b.n; i++)
                n += artifacts_delete(a, b.ids[i]) >= 0;
        if (b.n_undelivered > 0 && n > 0)
                log_warning("artifacts: %u were removed that never got to the bucket", b.n_undelivered);
        return n;
}

static unsigned expire_rank(const LedgerEntry *e) {
        return 1;
}

/* Removes one at a time: after each, another tenant may hold most. */
void expire_for_room(Artifacts *a) {
        uint64_t max = artifacts_config(a)->total_bytes;
        const LedgerEntry *e;
        size_t n = 1;

        while (max > 0 && n > 0 && (e = ledger_victim(a->manager, LEDGER_ARTIFACT, max, expire_rank))) {
                char tenant[ARTIFACT_OWNER_MAX + 1];

                (void) snprintf(tenant, sizeof(tenant), "%s", ledger_tenant(e));
                n = remove_oldest(a, tenant, UINT64_MAX, /* wanted= */ 1);
                a->stats.evicted += n;
        }
}

/* One batch per turn; a full batch is followed by the next one at once. */
static int artifact_expire_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Artifacts *a = userdata;
        usec_t keep = artifacts_config(a)->keep_usec, now = clock_wall_usec(), pause;
        bool more = local_sweep(a);
        size_t n = 0;

        if (keep > 0 && now > keep && manager_trusts_calendar(a->manager))
                n = remove_oldest(a, /* tenant= */ NULL, now - keep, UINT64_MAX);
        a->stats.expired += n;
        expire_for_room(a);
        pause = more || n == BATCH ? 0 : keep > 0 && keep < INTERVAL ? keep : INTERVAL;
        (void) sd_event_source_set_time_relative(source, pause);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int expire_start(Artifacts *a, Error *reterr) {
        int r = sd_event_add_time_relative(a->manager->event, &a->expire_timer, CLOCK_MONOTONIC, 0, 0, artifact_expire_on_timer, a);

        return r < 0 ? error_set(reterr, r, "cannot add artifacts to the loop: %s", strerror(-r)) : 0;
}
