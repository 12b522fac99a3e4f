#include "core/disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/internal.h"
#include "core/trees.h"

#define RETRY_USEC (1 * USEC_PER_SEC)
#define ASK_USEC   (500 * USEC_PER_MSEC)

typedef struct SandboxDisk {
        TreeCall *making, *removing, *measuring;
        sd_event_source *retry;
        bool awaited; /* the end of the sandbox waits until the creation of its disk is answered */
        bool gone;
        bool measured;
        uint64_t bytes;
        usec_t asked_at;
} SandboxDisk;

static SandboxDisk *disk_of(Sandbox *sb) {
        if (!sb->disk)
                sb->disk = calloc(1, sizeof(*sb->disk));
        return sb->disk;
}

void sandbox_disk_free(Sandbox *sb) {
        SandboxDisk *d = sb->disk;

        if (!d)
                return;
        tree_call_forget(d->making);
        tree_call_forget(d->removing);
        tree_call_forget(d->measuring);
        sd_event_source_disable_unref(d->retry);
        free(d);
        sb->disk = NULL;
}

/* Making. */

static void disk_fail(Sandbox *sb, int code, const char *text) {
        sb->create_error = code;
        sandbox_end(sb, SANDBOX_FAILED, /* delete= */ true, text);
}

static void disk_on_made(const TreeAnswer *answer, const Error *error, void *userdata) {
        Sandbox *sb = userdata;
        SandboxDisk *d = sb->disk;
        Error own = { 0 };
        int r;

        d->making = NULL;
        if (d->awaited) {
                d->awaited = false;
                sandbox_on_destroyed(sb->manager, sb->id, NULL);
                return;
        }
        if (sb->status != SANDBOX_INITIALIZING)
                return; /* the provider's answer to the destroy continues its end */
        if (error && error->code != -EEXIST) {
                (void) error_set(&own, error->code == -ECONNRESET ? -EAGAIN : error->code, "cannot make the sandbox's disk: %s", error->text);
                disk_fail(sb, own.code, own.text);
                return;
        }
        r = sandbox_proceed(sb, &own);
        if (r < 0)
                disk_fail(sb, r, own.text);
}

int sandbox_disk_make(Sandbox *sb, Error *reterr) {
        TreeRef disk = tree_ref(TREE_DISK, sb->id), from;
        SandboxDisk *d;

        if (!trees_have_disks(sb->manager, reterr))
                return error_prefix(reterr, -EOPNOTSUPP, "a persistent sandbox cannot be made here");
        d = disk_of(sb);
        if (!d)
                return error_set(reterr, -ENOMEM, "out of memory");
        if (sb->spec.scratch[0] && sb->spec.takes_scratch) {
                from = tree_ref(TREE_SCRATCH, sb->spec.scratch);
                return trees_take(sb->manager, &disk, &from, sb->spec.limits.disk_bytes, disk_on_made, sb, &d->making, reterr);
        }
        if (sb->spec.scratch[0])
                from = tree_ref(TREE_SCRATCH, sb->spec.scratch);
        else if (sb->spec.snapshot)
                from = tree_ref(TREE_SNAPSHOT, sb->spec.snapshot);
        return trees_make(sb->manager, sb->spec.tenant, &disk, sb->spec.scratch[0] || sb->spec.snapshot ? &from : NULL, sb->spec.limits.disk_bytes, disk_on_made, sb, &d->making, reterr);
}

/* Removing. */

static int disk_on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Sandbox *sb = userdata;

        sb->disk->retry = sd_event_source_disable_unref(sb->disk->retry);
        sandbox_on_destroyed(sb->manager, sb->id, NULL);
        return 0;
}

/* Without a depot nothing can be removed; the next start with a depot sweeps. */
static bool disk_is_gone(int r) {
        return r >= 0 || r == -EOPNOTSUPP;
}

static bool disk_retry_later(Sandbox *sb, const char *text) {
        log_warning("sandbox %s: its disk cannot be removed, retrying: %s", sb->id, text);
        return sd_event_add_time_relative(sb->manager->event, &sb->disk->retry, CLOCK_MONOTONIC, RETRY_USEC, 0, disk_on_retry, sb) >= 0;
}

static void disk_on_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        Sandbox *sb = userdata;
        SandboxDisk *d = sb->disk;

        d->removing = NULL;
        d->gone = !error || disk_is_gone(error->code);
        if (!d->gone && disk_retry_later(sb, error->text))
                return;
        d->gone = true; /* if even the timer for a retry fails, the next start removes the disk */
        sandbox_on_destroyed(sb->manager, sb->id, NULL);
}

bool sandbox_disk_remove(Sandbox *sb) {
        TreeRef disk = tree_ref(TREE_DISK, sb->id);
        SandboxDisk *d = sb->spec.persistent ? disk_of(sb) : NULL;
        Error error = { 0 };
        int r;

        if (!d || d->gone || sandbox_status_is_ended(sb->status))
                return false; /* no disk, or it was removed when the sandbox ended */
        if (d->making) {
                d->awaited = true;
                return true;
        }
        if (d->removing || d->retry)
                return true;
        r = trees_remove(sb->manager, &disk, disk_on_removed, sb, &d->removing, &error);
        if (r >= 0)
                return true;
        return !disk_is_gone(r) && disk_retry_later(sb, error.text);
}

/* Measuring. */

static void disk_on_measured(const TreeAnswer *answer, const Error *error, void *userdata) {
        Sandbox *sb = userdata;

        sb->disk->measuring = NULL;
        if (error)
                return;
        sb->disk->bytes = answer->bytes;
        sb->disk->measured = true;
}

void sandbox_disk_usage(Sandbox *sb, SandboxUsage *ret) {
        TreeRequest request = { .operation = TREE_USAGE, .n_refs = 1, .refs = { tree_ref(TREE_DISK, sb->id) } };
        SandboxDisk *d = disk_of(sb);
        usec_t now = clock_usec();

        if (!d)
                return;
        ret->disk_bytes = d->bytes;
        ret->has_disk = d->measured;
        if (d->measuring || d->removing || d->gone || (d->asked_at != 0 && now < d->asked_at + ASK_USEC))
                return;
        d->asked_at = now;
        (void) trees_ask(sb->manager, &request, /* fds= */ NULL, /* item= */ NULL, disk_on_measured, sb, &d->measuring, /* reterr= */ NULL);
}

/* Sweeping. */

static void on_stray(const TreeRef *ref, uint64_t bytes, void *userdata) {
        Manager *m = userdata;
        const Sandbox *sb = manager_by_id(m, ref->name);
        Error error = { 0 };

        if (sb && sb->spec.persistent && !sandbox_status_is_ended(sb->status)) {
                trees_regroup(m, sb->spec.tenant, ref, sb->created_at);
                return;
        }
        if (!sb || m->doubts_store)
                return; /* unknown, or not known for sure: quarantine.h */
        log_notice("the disk of sandbox %s, which has ended, is removed", ref->name);
        if (trees_remove(m, ref, /* done= */ NULL, /* userdata= */ NULL, NULL, &error) < 0)
                log_warning("the disk of sandbox %s cannot be removed: %s", ref->name, error.text);
}

static void disk_on_listed(const TreeAnswer *answer, const Error *error, void *userdata) {
        if (error && error->code != -EOPNOTSUPP)
                log_warning("cannot list the disks that are there: %s", error->text);
}

void disks_sweep(Manager *m) {
        TreeRequest request = { .operation = TREE_LIST, .n_refs = 1, .refs = { { .kind = TREE_DISK } } };

        if (trees_have_disks(m, /* reterr= */ NULL))
                (void) trees_ask(m, &request, /* fds= */ NULL, on_stray, disk_on_listed, m, NULL, /* reterr= */ NULL);
}
