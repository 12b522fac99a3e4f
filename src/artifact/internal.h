/* internal.h: what the files behind artifact.h share. */
#pragma once

#include <systemd/sd-event.h>

#include "artifact/artifact.h"
#include "config/config.h"
#include "core/ledger.h"
#include "core/secret.h"
#include "outbound/delivery.h"

#define ARTIFACT_UPLOADS_MAX 4 /* at once */

typedef struct Put Put;
typedef struct ArtifactUpload ArtifactUpload;
typedef struct Opening Opening;

struct Artifacts {
        Manager *manager;
        CoreObserver observer;
        Outbound *outbound;
        Deliveries *removals; /* from the bucket */
        int dirfd;
        Put *puts;            /* being written or waiting for it, the oldest first */
        unsigned n_puts;
        char *buffer;         /* for one slice */
        sd_event_source *put_source;
        ArtifactUpload *uploads;      /* under way */
        unsigned n_uploads;
        bool paused;          /* after a failure */
        usec_t pause_usec;    /* how long; doubled each time, 0: the last one went well */
        sd_event_source *upload_timer;
        sd_event_source *expire_timer;
        Opening *openings;
        void *sweep;          /* a DIR, while files without a row are looked for */
        struct {
                char sandbox[SANDBOX_ID_LENGTH + 1];
                SandboxUsage usage;
        } ending; /* the sandbox whose end is being told of */
        ArtifactsStats stats;
        LedgerPot *held; /* in the directory, by tenant */
};

static inline const ArtifactsConfig *artifacts_config(const Artifacts *a) {
        return &a->manager->settings->artifacts;
}

/* artifact.c: a failure that people should see. */
void artifacts_note_error(Artifacts *a, const char *text);

void artifacts_hold(Artifacts *a, const char *tenant, int64_t bytes); /* so much more is in the directory, or less */

/* local.c: the directory. */
int local_open_directory(Artifacts *a, Error *reterr);
int local_create(Artifacts *a, const char *id);
int local_open(Artifacts *a, const char *id);
void local_remove(Artifacts *a, const char *id);
/* Files that nobody knows, as a crash may leave them: some of them, to be called again while it returns true. */
bool local_sweep(Artifacts *a);

/* put.c */
int puts_start(Artifacts *a, Error *reterr);
void puts_free(Artifacts *a);
void puts_forget(Artifacts *a, void *userdata);
unsigned puts_of_owner(const Artifacts *a, const char *kind, const char *owner);
void puts_drop_owner(Artifacts *a, const char *kind, const char *owner);

/* s3.c: one request to the bucket. */
char *s3_place(const Artifacts *a, const Artifact *artifact); /* BUCKET/KEY; the caller frees, NULL: no memory */
int s3_request(Artifacts *a, const char *method, const char *place, const char *sha256, const char *type, int body_fd, size_t answer_max,
                OutboundDone done, void *userdata, OutboundRequest **ret, Error *reterr);
int s3_remove(Artifacts *a, const char *place);

/* upload.c: what is pending goes to the bucket. */
int uploads_start(Artifacts *a, Error *reterr);
void uploads_wake(Artifacts *a);
void uploads_free(Artifacts *a);
void uploads_cancel(Artifacts *a, const char *id);

/* expire.c: by age, and for room. */
int expire_start(Artifacts *a, Error *reterr);
void expire_for_room(Artifacts *a);

/* report.c: of sandboxes that failed. */
void report_observe(Artifacts *a);
