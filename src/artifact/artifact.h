/* artifact.h: what is kept of an execution or a sandbox after it is gone.
 *
 * Logs, usage reports, captured files, error details: bytes with a name and an owner. A row in the store tells of each; the bytes are
 * in a file of our own directory or, by config, in a bucket. What goes to a bucket is in the directory until it has arrived there, is
 * tried again with growing pauses, and its row says how it stands: nothing is lost because the bucket is away.
 * Names never become paths: a file is called by the artifact's id, which is ours.
 * Of a sandbox that failed, its report is kept by itself (report.c); what else is kept, the one who knows puts here.
 * Knows the store (rows.h), the loop, settings through Manager.settings, and outbound.h for buckets.
 * Must not know: HTTP surfaces, agents, how an execution runs. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/shape.h"
#include "core/manager.h"

typedef struct Artifacts Artifacts;
typedef struct Outbound Outbound;

#define ARTIFACT_ID_LENGTH 25 /* "a" and 24 hexadecimal digits, by chance */
#define ARTIFACT_NAME_MAX  1023
#define ARTIFACT_OWNER_MAX 63
#define ARTIFACT_TYPE_MAX  127

/* By whom it is owned: names that the API shows. */
#define ARTIFACT_OF_AGENT   "agent"
#define ARTIFACT_OF_SANDBOX "sandbox"

typedef enum ArtifactState {
        ARTIFACT_LOCAL,   /* in the directory, where it shall be */
        ARTIFACT_PENDING, /* in the directory, on its way to the bucket */
        ARTIFACT_REMOTE,  /* in the bucket */
        ARTIFACT_FAILED,  /* in the directory; the bucket did not take it, see error. Tried again after a start */
        _ARTIFACT_STATE_MAX,
} ArtifactState;

extern const ShapeNames artifact_state_names;
const char *artifact_state_name(int state);
int artifact_state_from_name(const char *name); /* -EINVAL */

typedef struct Artifact {
        char id[ARTIFACT_ID_LENGTH + 1];
        char owner_kind[ARTIFACT_OWNER_MAX + 1], owner_id[ARTIFACT_OWNER_MAX + 1];
        char tenant[ARTIFACT_OWNER_MAX + 1]; /* "": none */
        char name[ARTIFACT_NAME_MAX + 1];    /* "stdout.log", "usage.json", "files/report/index.html" */
        char type[ARTIFACT_TYPE_MAX + 1];    /* Content-Type */
        char sha256[64 + 1];                 /* of the bytes, in hex */
        uint64_t size;
        bool truncated; /* the beginning of something larger */
        usec_t created_at;
        int state; /* ArtifactState */
        uint32_t attempts; /* to bring it to the bucket */
        char *error;       /* why that has failed last; NULL: it has not */
        char *place;       /* remote: BUCKET/KEY; NULL: in the directory */
        uint64_t serial;   /* the order in which they came; given by the store */
} Artifact;

extern const Shape artifact_shape, artifacts_stats_shape;

void artifact_done(Artifact *a);

/* outbound: may be NULL, then there are no buckets. Takes up what was on its way before a restart. */
int artifacts_new(Manager *m, Outbound *outbound, Artifacts **ret, Error *reterr);
Artifacts *artifacts_free(Artifacts *a); /* what is being written is cut off, and has no row */

typedef struct ArtifactSpec {
        const char *owner_kind, *owner_id;
        const char *tenant;  /* NULL: none */
        const char *name;    /* UTF-8, no control characters; "/" is a character like others, ".." as a part is refused */
        const char *type;    /* NULL: application/octet-stream */
        const void *data;    /* copied */
        uint64_t size;       /* of data; of fd: at most so much, UINT64_MAX: to its end */
        int fd;              /* instead of data, if >= 0: a file, read with pread() from `offset`. Taken (closed by us, also on failure) */
        uint64_t offset;
        struct Mask *mask;   /* core/mask.h: what is hidden of the file; NULL: nothing. Only with a size */
        bool truncate;       /* larger than artifacts.maxFileSize: keep the beginning. Else refused with -EFBIG */
} ArtifactSpec;

#define ARTIFACT_SPEC_INIT { .fd = -EBADF }

/* It is kept: has its row and its bytes are in the directory (the bucket may still be waited for). Or it failed: artifact is NULL.
 * Exactly once, never before artifacts_put() has returned, and not at all when that has failed. */
typedef void (*ArtifactDone)(int r, const Artifact *artifact, const char *text, void *userdata);

/* Large ones are copied in slices between other work. -EOPNOTSUPP: artifacts.enabled is false. -EFBIG, -EINVAL (name),
 * -EDQUOT: the owner has artifacts.maxFiles already. done may be NULL. */
int artifacts_put(Artifacts *a, const ArtifactSpec *spec, ArtifactDone done, void *userdata, Error *reterr);

/* done is not called any more for whatever was put or opened with this userdata. */
void artifacts_forget(Artifacts *a, void *userdata);

/* In order of creation. Strings may be NULL: any. */
typedef struct ArtifactQuery {
        const char *owner_kind, *owner_id, *tenant;
        uint64_t after; /* serial of the last one seen */
        unsigned limit;
} ArtifactQuery;

int artifacts_list(Artifacts *a, const ArtifactQuery *query, int (*each)(const Artifact *artifact, void *userdata), void *userdata);

/* Of one owner, whoever asks. after: as above, 0: from the beginning. */
int artifacts_each(Artifacts *a, const char *owner_kind, const char *owner_id, uint64_t after, unsigned limit,
                int (*each)(const Artifact *artifact, void *userdata), void *userdata);
int artifacts_find(Artifacts *a, const char *id, Artifact *ret); /* -ENOENT; ret is artifact_done()'s afterwards */

/* The bytes: a descriptor of a file, which the receiver closes. From a bucket it takes a while. fd is negative when it failed:
 * -ENODATA: the bytes are gone, -EIO: the bucket said something else than 200; text says what. As ArtifactDone: exactly once, never
 * before the call has returned. */
typedef void (*ArtifactOpened)(int fd, const char *text, void *userdata);
int artifacts_open(Artifacts *a, const char *id, ArtifactOpened opened, void *userdata, Error *reterr);

int artifacts_delete(Artifacts *a, const char *id); /* -ENOENT */
int artifacts_delete_owner(Artifacts *a, const char *owner_kind, const char *owner_id); /* how many */

typedef struct ArtifactsStats {
        uint64_t count, bytes;           /* of all rows */
        uint64_t local_bytes;            /* in the directory */
        uint64_t pending, failed;        /* on their way to the bucket; given up for now */
        uint64_t expired, evicted, lost; /* since the start: by age, for room, files that were missing */
        char last_error[256];
        usec_t last_error_at;
} ArtifactsStats;

void artifacts_stats(Artifacts *a, ArtifactsStats *ret);
