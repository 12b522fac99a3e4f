/* internal.h: shared by the files behind artifact.h. */
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
        Put *puts;            /* being written or waiting, the oldest first */
        unsigned n_puts;
        char *buffer;         /* for one slice */
        sd_event_source *put_source;
        ArtifactUpload *uploads;      /* under way */
        unsigned n_uploads;
        bool paused;          /* after a failure */
        usec_t pause_usec;    /* doubled each time; 0: the last upload succeeded */
        sd_event_source *upload_timer;
        sd_event_source *expire_timer;
        Opening *openings;
        void *sweep;          /* a DIR, during the search for files without a row */
        struct {
                char sandbox[SANDBOX_ID_LENGTH + 1];
                SandboxUsage usage;
        } ending; /* the sandbox whose end is being reported */
        ArtifactsStats stats;
        LedgerPot *held; /* bytes in the directory, by tenant */
};

static inline const ArtifactsConfig *artifacts_config(const Artifacts *a) {
        return &a->manager->settings->artifacts;
}

/* artifact.c: records a failure for the statistics. */
void artifacts_note_error(Artifacts *a, const char *text);

void artifacts_hold(Artifacts *a, const char *tenant, int64_t bytes); /* adjusts the bytes in the directory */

/* local.c: the directory. */
int local_open_directory(Artifacts *a, Error *reterr);
int local_create(Artifacts *a, const char *id);
int local_open(Artifacts *a, const char *id);
void local_remove(Artifacts *a, const char *id);
/* Removes files without a row, as a crash may leave them. Handles some per call; call it again while it
 * returns true. */
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

/* upload.c: uploads pending artifacts to the bucket. */
int uploads_start(Artifacts *a, Error *reterr);
void uploads_wake(Artifacts *a);
void uploads_free(Artifacts *a);
void uploads_cancel(Artifacts *a, const char *id);

/* expire.c: deletion by age and for room. */
int expire_start(Artifacts *a, Error *reterr);
void expire_for_room(Artifacts *a);

/* report.c: reports of failed sandboxes. */
void report_observe(Artifacts *a);
