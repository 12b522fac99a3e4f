/* sample.c: notes on live sandboxes, and the sampler that reads their usage in turn.
 *
 * Each second the sampler reads a few sandboxes, so that a thousand cost no more at once than ten. It stops while no
 * sandbox is alive. */

#include <stdlib.h>
#include <string.h>

#include "core/provider.h"
#include "observe/internal.h"

#define SAMPLE_USEC  USEC_PER_SEC
#define SAMPLE_BATCH 8   /* sandboxes that are read … */
#define SAMPLE_LOOKS 128 /* … of so many that are considered: most have no news */

Note *note_find(Observe *o, const Sandbox *sb) {
        Note *n;

        HASH_FIND_STR(o->notes, sb->id, n);
        return n;
}

Note *note_get(Observe *o, const Sandbox *sb) {
        Note *n = note_find(o, sb);

        if (n)
                return n;
        n = calloc(1, sizeof(*n));
        if (!n)
                return NULL;
        memcpy(n->id, sb->id, sizeof(n->id));
        n->activity = sb->changed_at;
        n->born = clock_usec();
        HASH_ADD_STR(o->notes, id, n);
        if (HASH_COUNT(o->notes) == 1 && o->sampler) {
                (void) sd_event_source_set_time_relative(o->sampler, SAMPLE_USEC);
                (void) sd_event_source_set_enabled(o->sampler, SD_EVENT_ONESHOT);
        }
        return n;
}

static void note_drop(Observe *o, Note *n) {
        HASH_DEL(o->notes, n);
        note_free(n);
}

void note_remove(Observe *o, const Sandbox *sb) {
        Note *n = note_find(o, sb);

        if (n)
                note_drop(o, n);
}

void notes_free(Observe *o) {
        while (o->notes)
                note_drop(o, o->notes);
}

static double sample_share(double used, double limit) {
        return limit > 0 ? used / limit : 0;
}

/* Memory between two samples is interpolated linearly; before the first sample, its value counts. */
void note_sampled(Note *n, const Sandbox *sb, const SandboxUsage *usage, usec_t now) {
        usec_t before = n->sampled_at != 0 ? n->sampled_at : n->born;
        double seconds = now > before ? (double) (now - before) / USEC_PER_SEC : 0;

        if (usage->has_memory) {
                uint64_t then = n->sampled_at != 0 ? n->last.memory_bytes : usage->memory_bytes;

                n->byte_seconds += ((double) then + (double) usage->memory_bytes) / 2 * seconds;
                n->memory_share = sample_share((double) usage->memory_bytes, (double) sb->spec.limits.memory_bytes);
        }
        if (usage->has_cpu && seconds > 0) {
                usec_t used = usage->cpu_usec - MIN_OF(n->last.cpu_usec, usage->cpu_usec);

                n->cpu_percent = 100 * (double) used / USEC_PER_SEC / seconds;
                n->cpu_share = sample_share(n->cpu_percent * 10, sb->spec.limits.cpu_milli);
        }
        n->last = *usage;
        n->sampled_at = now;
        note_remember(n, usage, now);
}

static bool sample(Observe *o, Note *n) {
        Provider *p = o->manager->provider;
        SandboxUsage usage = { 0 };
        Sandbox *sb = manager_by_id(o->manager, n->id);

        if (!sb) { /* the sandbox was removed without a callback */
                note_drop(o, n);
                return false;
        }
        if (sb->status == SANDBOX_INITIALIZING || sb->status == SANDBOX_TERMINATING)
                return false;
        if (sb->n_alive == 0 && n->sampled_at != 0 && n->operations == sb->operations) {
                n->cpu_percent = n->cpu_share = 0;
                return false; /* no operations: a thousand idle sandboxes must cost nothing */
        }
        n->operations = sb->operations;
        if (p->ops->usage(p, sb, &usage) >= 0)
                note_sampled(n, sb, &usage, clock_usec());
        return true;
}

/* Begins behind the sandbox that was sampled last. */
static void sample_some(Observe *o) {
        Note *n = NULL, *next;
        unsigned reads = 0;

        HASH_FIND_STR(o->notes, o->cursor, n);
        n = n ? n->hh.next : o->notes;
        for (unsigned looks = 0; n && looks < SAMPLE_LOOKS && reads < SAMPLE_BATCH; looks++) {
                next = n->hh.next;
                memcpy(o->cursor, n->id, sizeof(o->cursor));
                reads += sample(o, n);
                n = next;
        }
        if (!n)
                o->cursor[0] = '\0';
}

static int on_sample(sd_event_source *source, uint64_t usec, void *userdata) {
        Observe *o = userdata;

        if (o->manager->provider)
                sample_some(o);
        if (!o->notes)
                return 0;
        (void) sd_event_source_set_time_relative(source, SAMPLE_USEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int sampler_start(Observe *o) {
        Sandbox *sb, *next;
        int r = sd_event_add_time_relative(o->manager->event, &o->sampler, CLOCK_MONOTONIC, SAMPLE_USEC, SAMPLE_USEC / 4, on_sample, o);

        HASH_ITER(hh, o->manager->sandboxes, sb, next)
                if (sandbox_status_is_live(sb->status) && !sb->pooled) {
                        Note *n = note_get(o, sb);

                        if (n && (n->alive = sb->n_alive) > 0)
                                n->busy_since = clock_usec();
                }
        return r;
}
