#include "artifact/artifact.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utlist.h>

#include "artifact/internal.h"
#include "base/fd.h"
#include "base/log.h"
#include "artifact/rows.h"

#define FETCH_MAX ((uint64_t) 64 << 20) /* the most of a bucket's object that is held in memory for one caller */

void artifacts_note_error(Artifacts *a, const char *text) {
        (void) snprintf(a->stats.last_error, sizeof(a->stats.last_error), "%s", text);
        a->stats.last_error_at = clock_wall_usec();
}

/* Opening. */

struct Opening {
        Artifacts *artifacts;
        Artifact row;
        ArtifactOpened opened;
        void *userdata;
        sd_event_source *defer;
        OutboundRequest *request;
        Opening *prev, *next;
};

static void opening_free(Opening *o) {
        DL_DELETE(o->artifacts->openings, o);
        sd_event_source_disable_unref(o->defer);
        artifact_done(&o->row);
        free(o);
}

/* Takes ownership of the descriptor. */
static void opening_tell(Opening *o, int fd, const char *text) {
        if (o->opened)
                o->opened(fd, text, o->userdata);
        else
                (void) fd_close(fd);
        opening_free(o);
}

static int on_local(sd_event_source *source, void *userdata) {
        Opening *o = userdata;
        int fd = local_open(o->artifacts, o->row.id);

        if (fd == -ENOENT) {
                o->artifacts->stats.lost++;
                fd = -ENODATA;
        }
        opening_tell(o, fd, fd < 0 ? "its file is not there" : NULL);
        return 0;
}

static bool artifact_is_same(const Artifact *row, const char *data, size_t size) {
        uint8_t sum[SECRET_SHA256_SIZE];
        char hex[2 * SECRET_SHA256_SIZE + 1];

        secret_sha256(data, size, sum);
        secret_hex(sum, sizeof(sum), hex);
        return size == row->size && strcmp(hex, row->sha256) == 0;
}

static int to_descriptor(const char *data, size_t size) {
        _cleanup_close_ int fd = memfd_create("artifact", MFD_CLOEXEC);
        int r = fd < 0 ? -errno : fd_write_all(fd, data, size);

        return r < 0 ? r : TAKE_FD(fd);
}

static void artifact_on_fetched(const OutboundResult *result, void *userdata) {
        Opening *o = userdata;
        char text[256];

        o->request = NULL;
        if (result->error < 0)
                opening_tell(o, result->error, result->text[0] ? result->text : strerror(-result->error));
        else if (result->status == 404)
                opening_tell(o, -ENODATA, "it is not in the bucket any more");
        else if (result->status != 200) {
                (void) snprintf(text, sizeof(text), "the bucket answered %u: %.*s", result->status, (int) MIN_OF(result->size, (size_t) 180),
                                result->body);
                opening_tell(o, -EIO, text);
        } else if (!artifact_is_same(&o->row, result->body, result->size))
                opening_tell(o, -EIO, "what is in the bucket is not what was put there");
        else
                opening_tell(o, to_descriptor(result->body, result->size), NULL);
}

static int begin_opening(Opening *o, Error *reterr) {
        Artifacts *a = o->artifacts;
        int r;

        if (o->row.state == ARTIFACT_REMOTE && o->row.size > FETCH_MAX)
                return error_set(reterr, -EFBIG, "it has more than %llu bytes: get '%s' from the bucket itself",
                                (unsigned long long) FETCH_MAX, o->row.place);
        if (o->row.state == ARTIFACT_REMOTE && o->row.place)
                return s3_request(a, "GET", o->row.place, NULL, NULL, -EBADF, (size_t) o->row.size + 1, artifact_on_fetched, o, &o->request, reterr);
        r = sd_event_add_defer(a->manager->event, &o->defer, on_local, o);
        return r < 0 ? error_set(reterr, r, "the daemon is ending") : 0;
}

int artifacts_open(Artifacts *a, const char *id, ArtifactOpened opened, void *userdata, Error *reterr) {
        Opening *o = calloc(1, sizeof(*o));
        int r;

        if (!o)
                return error_set(reterr, -ENOMEM, "out of memory");
        o->artifacts = a;
        o->opened = opened;
        o->userdata = userdata;
        DL_APPEND(a->openings, o);
        r = store_artifact_find(a->manager->store, id, &o->row);
        if (r < 0)
                (void) error_set(reterr, r, r == -ENOENT ? "there is no artifact '%s'" : "artifact '%s' cannot be read", id);
        else
                r = begin_opening(o, reterr);
        if (r < 0)
                opening_free(o);
        return r;
}

void artifacts_forget(Artifacts *a, void *userdata) {
        Opening *o, *next;

        puts_forget(a, userdata);
        DL_FOREACH_SAFE(a->openings, o, next)
                if (o->userdata == userdata) {
                        outbound_cancel(o->request);
                        opening_free(o);
                }
}

/* Rows. */

int artifacts_each(Artifacts *a, const char *owner_kind, const char *owner_id, uint64_t after, unsigned limit,
                int (*each)(const Artifact *artifact, void *userdata), void *userdata) {
        const ArtifactQuery query = { .owner_kind = owner_kind, .owner_id = owner_id, .after = after, .limit = limit };

        return store_artifact_list(a->manager->store, &query, each, userdata);
}

int artifacts_list(Artifacts *a, const ArtifactQuery *query, int (*each)(const Artifact *artifact, void *userdata), void *userdata) {
        return store_artifact_list(a->manager->store, query, each, userdata);
}

int artifacts_find(Artifacts *a, const char *id, Artifact *ret) {
        return store_artifact_find(a->manager->store, id, ret);
}

void artifacts_hold(Artifacts *a, const char *tenant, int64_t bytes) {
        a->stats.local_bytes += (uint64_t) bytes;
        ledger_add(a->manager, &a->held, tenant, LEDGER_ARTIFACT, bytes);
}

static void count_out(Artifacts *a, const Artifact *row) {
        a->stats.count--;
        a->stats.bytes -= row->size;
        if (row->state != ARTIFACT_REMOTE)
                artifacts_hold(a, row->tenant, -(int64_t) row->size);
        if (row->state == ARTIFACT_PENDING)
                a->stats.pending--;
        if (row->state == ARTIFACT_FAILED)
                a->stats.failed--;
}

int artifacts_delete(Artifacts *a, const char *id) {
        _cleanup_(artifact_done) Artifact row = { 0 };
        int r = store_artifact_find(a->manager->store, id, &row);

        if (r >= 0)
                r = store_artifact_delete(a->manager->store, id);
        if (r < 0)
                return r;
        uploads_cancel(a, id);
        count_out(a, &row);
        if (row.state != ARTIFACT_REMOTE)
                local_remove(a, id);
        else if (row.place && s3_remove(a, row.place) < 0)
                log_warning("artifact %s: stays in the bucket as '%s'", id, row.place);
        return 0;
}

#define DELETE_AT_ONCE 100

typedef struct Ids {
        char ids[DELETE_AT_ONCE][ARTIFACT_ID_LENGTH + 1];
        unsigned n;
} Ids;

static int artifact_add_id(const Artifact *row, void *userdata) {
        Ids *ids = userdata;

        memcpy(ids->ids[ids->n++], row->id, sizeof(row->id));
        return 0;
}

int artifacts_delete_owner(Artifacts *a, const char *owner_kind, const char *owner_id) {
        int r, n = 0;
        Ids ids;

        puts_drop_owner(a, owner_kind, owner_id);
        do {
                ids.n = 0;
                r = artifacts_each(a, owner_kind, owner_id, 0, DELETE_AT_ONCE, artifact_add_id, &ids);
                for (unsigned i = 0; r >= 0 && i < ids.n; i++) {
                        r = artifacts_delete(a, ids.ids[i]);
                        n++;
                }
        } while (r >= 0 && ids.n == DELETE_AT_ONCE);
        return r < 0 ? r : n;
}

void artifacts_stats(Artifacts *a, ArtifactsStats *ret) {
        *ret = a->stats;
}

/* Beginning and end. */

static int artifact_add_sums(const StoreArtifactSums *sums, void *userdata) {
        Artifacts *a = userdata;

        a->stats.count += sums->count;
        a->stats.bytes += sums->bytes;
        a->stats.pending += sums->pending;
        a->stats.failed += sums->failed;
        artifacts_hold(a, sums->tenant, (int64_t) sums->local_bytes);
        return 0;
}

static int artifact_start(Artifacts *a, Error *reterr) {
        int r = local_open_directory(a, reterr);

        if (r < 0)
                return r;
        store_may_lose(store_artifact_retry(a->manager->store), "that artifacts are sent again");
        r = store_artifact_sums(a->manager->store, artifact_add_sums, a);
        if (r < 0)
                return error_set(reterr, r, "cannot count artifacts: %s", strerror(-r));
        if (a->outbound) {
                r = deliveries_new(a->manager->event, a->outbound, &a->removals, reterr);
                if (r < 0)
                        return r;
        }
        r = puts_start(a, reterr);
        if (r >= 0)
                r = uploads_start(a, reterr);
        if (r >= 0)
                r = expire_start(a, reterr);
        if (r >= 0)
                report_observe(a);
        return r;
}

int artifacts_new(Manager *m, Outbound *outbound, Artifacts **ret, Error *reterr) {
        Artifacts *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return error_set(reterr, -ENOMEM, "out of memory");
        a->manager = m;
        a->outbound = outbound;
        a->dirfd = -EBADF;
        r = artifact_start(a, reterr);
        if (r < 0) {
                artifacts_free(a);
                return r;
        }
        *ret = a;
        return 0;
}

Artifacts *artifacts_free(Artifacts *a) {
        if (!a)
                return NULL;
        manager_unobserve(a->manager, &a->observer);
        while (a->openings) {
                outbound_cancel(a->openings->request);
                opening_free(a->openings);
        }
        uploads_free(a);
        puts_free(a);
        deliveries_free(a->removals);
        sd_event_source_disable_unref(a->expire_timer);
        ledger_pots_free(&a->held);
        if (a->sweep)
                (void) closedir(a->sweep);
        (void) fd_close(a->dirfd);
        free(a);
        return NULL;
}
