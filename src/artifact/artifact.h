/* artifact.h: files that outlive their execution or sandbox: logs, usage reports, captured files, error
 * details.
 *
 * An artifact is bytes with a name and an owner. Its row is in the store. Its bytes are in a file of our own
 * directory or, if configured, in a bucket. An artifact for a bucket stays in the directory until the upload
 * has succeeded. Uploads are retried with growing pauses, and the row has their state, so an outage of the
 * bucket loses nothing.
 * Names never become paths: a file is named by the artifact's id, which is ours.
 * The report of a failed sandbox is saved by this room itself (report.c); other rooms submit everything else.
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

#define ARTIFACT_ID_LENGTH 25 /* "a" and 24 random hexadecimal digits */
#define ARTIFACT_NAME_MAX  1023
#define ARTIFACT_OWNER_MAX 63
#define ARTIFACT_TYPE_MAX  127

/* Kinds of owners; the API shows these names. */
#define ARTIFACT_OF_AGENT   "agent"
#define ARTIFACT_OF_SANDBOX "sandbox"

typedef enum ArtifactState {
        ARTIFACT_LOCAL,   /* in the directory; no bucket is configured */
        ARTIFACT_PENDING, /* in the directory; to be uploaded */
        ARTIFACT_REMOTE,  /* in the bucket */
        ARTIFACT_FAILED,  /* in the directory; the bucket refused it, see error. Retried hourly and after a start */
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
        bool truncated; /* only the beginning of something larger */
        usec_t created_at;
        int state; /* ArtifactState */
        uint32_t attempts; /* uploads tried so far */
        char *error;       /* of the last upload; NULL: it has not failed */
        char *place;       /* remote: BUCKET/KEY; NULL: in the directory */
        uint64_t serial;   /* the order of creation; given by the store */
} Artifact;

extern const Shape artifact_shape, artifacts_stats_shape;

void artifact_done(Artifact *a);

/* outbound: NULL if there are no buckets. Resumes the uploads that were pending before a restart. */
int artifacts_new(Manager *m, Outbound *outbound, Artifacts **ret, Error *reterr);
Artifacts *artifacts_free(Artifacts *a); /* unfinished puts are dropped and get no row */

typedef struct ArtifactSpec {
        const char *owner_kind, *owner_id;
        const char *tenant;  /* NULL: none */
        const char *name;    /* UTF-8, no control characters; "/" is allowed, ".." as a component is refused */
        const char *type;    /* NULL: application/octet-stream */
        const void *data;    /* copied */
        uint64_t size;       /* of data; with fd: an upper limit, UINT64_MAX: up to its end */
        /* >= 0: a file, read with pread() from `offset`, in place of data. Always closed by us, also on
         * failure. */
        int fd;
        uint64_t offset;
        struct OutputReader *output; /* core/output.h: in place of the file, with a size. Likewise always closed by us */
        /* core/mask.h: ranges of the file or output to hide; NULL: none. Only with a size. */
        struct Mask *mask;
        bool truncate;       /* keep only the beginning if larger than artifacts.maxFileSize; else -EFBIG */
} ArtifactSpec;

#define ARTIFACT_SPEC_INIT { .fd = -EBADF }

/* Success: the artifact has its row, and its bytes are in the directory (the upload may be pending). Failure:
 * artifact is NULL. Called exactly once, never before artifacts_put() has returned, and not at all if that
 * has failed. */
typedef void (*ArtifactDone)(int r, const Artifact *artifact, const char *text, void *userdata);

/* Large artifacts are copied in slices, with other work in between. -EOPNOTSUPP: artifacts.enabled is false.
 * -EFBIG, -EINVAL (name), -EDQUOT: the owner has artifacts.maxFiles already. done may be NULL. */
int artifacts_put(Artifacts *a, const ArtifactSpec *spec, ArtifactDone done, void *userdata, Error *reterr);

/* Cancels the callbacks of all puts and opens with this userdata. */
void artifacts_forget(Artifacts *a, void *userdata);

/* In the order of creation. A NULL string matches all. */
typedef struct ArtifactQuery {
        const char *owner_kind, *owner_id, *tenant;
        uint64_t after; /* serial of the last one seen */
        unsigned limit;
} ArtifactQuery;

int artifacts_list(Artifacts *a, const ArtifactQuery *query, int (*each)(const Artifact *artifact, void *userdata), void *userdata);

/* The artifacts of one owner, regardless of the tenant. after: as above, 0: from the beginning. */
int artifacts_each(Artifacts *a, const char *owner_kind, const char *owner_id, uint64_t after, unsigned limit,
                int (*each)(const Artifact *artifact, void *userdata), void *userdata);
int artifacts_find(Artifacts *a, const char *id, Artifact *ret); /* -ENOENT; release ret with artifact_done() */

/* fd: a file with the bytes, which the receiver closes; the transfer from a bucket takes a while. Negative on
 * failure: -ENODATA: the bytes are missing, -EIO: the bucket's status was not 200; `text` has details. Called
 * exactly once, never before artifacts_open() has returned. */
typedef void (*ArtifactOpened)(int fd, const char *text, void *userdata);
int artifacts_open(Artifacts *a, const char *id, ArtifactOpened opened, void *userdata, Error *reterr);

int artifacts_delete(Artifacts *a, const char *id); /* -ENOENT */
int artifacts_delete_owner(Artifacts *a, const char *owner_kind, const char *owner_id); /* returns the number */

typedef struct ArtifactsStats {
        uint64_t count, bytes;           /* of all rows */
        uint64_t local_bytes;            /* in the directory */
        uint64_t pending, failed;        /* waiting for upload; refused by the bucket */
        uint64_t expired, evicted, lost; /* since the start: too old, removed for room, files that were missing */
        char last_error[256];
        usec_t last_error_at;
} ArtifactsStats;

void artifacts_stats(Artifacts *a, ArtifactsStats *ret);
