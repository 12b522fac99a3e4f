/* upload.c: uploads pending artifacts to the bucket, a few at once.
 *
 * If a bucket does not answer, or answers with a temporary failure, uploads pause, with a growing pause. A
 * refusal (a wrong secret, no such bucket) makes the artifact `failed`, with the reason in its row. Failed
 * ones are retried hourly and after a start. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "artifact/internal.h"
#include "base/fd.h"
#include "base/log.h"
#include "artifact/rows.h"

#define PAUSE_FIRST    (1 * USEC_PER_SEC)
#define PAUSE_MAX      (300 * USEC_PER_SEC)
#define ATTEMPTS_MAX   10
#define RETRY_INTERVAL (3600 * USEC_PER_SEC)

struct ArtifactUpload {
        Artifacts *artifacts;
        Artifact row;
        char *place;
        OutboundRequest *request;
        ArtifactUpload *prev, *next;
};

static void artifact_upload_free(ArtifactUpload *u) {
        DL_DELETE(u->artifacts->uploads, u);
        u->artifacts->n_uploads--;
        free(u->place);
        artifact_done(&u->row);
        free(u);
}

void uploads_free(Artifacts *a) {
        while (a->uploads) {
                outbound_cancel(a->uploads->request);
                artifact_upload_free(a->uploads);
        }
        sd_event_source_disable_unref(a->upload_timer);
}

void uploads_cancel(Artifacts *a, const char *id) {
        ArtifactUpload *u;

        DL_FOREACH(a->uploads, u)
                if (strcmp(u->row.id, id) == 0) {
                        outbound_cancel(u->request);
                        artifact_upload_free(u);
                        return;
                }
}

static void upload_arm(Artifacts *a) {
        (void) sd_event_source_set_time_relative(a->upload_timer, a->paused ? a->pause_usec : RETRY_INTERVAL);
        (void) sd_event_source_set_enabled(a->upload_timer, SD_EVENT_ONESHOT);
}

static void pause_uploads(Artifacts *a) {
        if (a->paused)
                return; /* another upload has paused them */
        a->paused = true;
        a->pause_usec = a->pause_usec == 0 ? PAUSE_FIRST : MIN_OF(2 * a->pause_usec, PAUSE_MAX);
        upload_arm(a);
}

/* If the row cannot be written, the artifact is uploaded again, but not at once: the disk may be full for long. */
static void arrived(ArtifactUpload *u) {
        Artifacts *a = u->artifacts;

        free(u->row.error);
        u->row.error = NULL;
        free(u->row.place);
        u->row.place = TAKE_PTR(u->place);
        u->row.state = ARTIFACT_REMOTE;
        if (store_artifact_update(a->manager->store, &u->row) < 0) {
                artifacts_note_error(a, "what has got to the bucket cannot be written down");
                pause_uploads(a);
                return;
        }
        a->pause_usec = 0;
        local_remove(a, u->row.id);
        artifacts_hold(a, u->row.tenant, -(int64_t) u->row.size);
        a->stats.pending--;
}

static void upload_failed(ArtifactUpload *u, bool final, const char *text) {
        Artifacts *a = u->artifacts;
        char words[256];

        free(u->row.error);
        u->row.error = strdup(text);
        if (final || u->row.attempts >= ATTEMPTS_MAX)
                u->row.state = ARTIFACT_FAILED;
        if (store_artifact_update(a->manager->store, &u->row) >= 0 && u->row.state == ARTIFACT_FAILED) {
                a->stats.pending--;
                a->stats.failed++;
        }
        (void) snprintf(words, sizeof(words), "artifact %s does not get to the bucket: %.150s", u->row.id, text);
        artifacts_note_error(a, words);
        if (a->pause_usec == 0)
                log_warning("%s; it is kept here meanwhile", words);
        pause_uploads(a);
}

static bool is_final(unsigned status) {
        return status >= 300 && status < 500 && status != 408 && status != 425 && status != 429;
}

static void upload_on_uploaded(const OutboundResult *result, void *userdata) {
        ArtifactUpload *u = userdata;
        Artifacts *a = u->artifacts;
        char text[256];

        u->row.attempts++;
        if (result->error < 0)
                upload_failed(u, /* final= */ false, result->text[0] ? result->text : strerror(-result->error));
        else if (result->status >= 200 && result->status < 300)
                arrived(u);
        else {
                (void) snprintf(text, sizeof(text), "the bucket answered %u: %.*s", result->status, (int) MIN_OF(result->size, (size_t) 180),
                                result->body);
                upload_failed(u, is_final(result->status), text);
        }
        artifact_upload_free(u);
        uploads_wake(a);
}

/* Copies the rows to a list, because no row may be changed while they are read. */
static int upload_collect(const Artifact *row, void *userdata) {
        Artifacts *a = userdata;
        ArtifactUpload *u;

        DL_FOREACH(a->uploads, u)
                if (strcmp(u->row.id, row->id) == 0)
                        return 0;
        if (a->n_uploads >= ARTIFACT_UPLOADS_MAX)
                return -ECANCELED;
        u = calloc(1, sizeof(*u));
        if (!u)
                return -ENOMEM;
        u->artifacts = a;
        u->row = *row;
        u->row.error = row->error ? strdup(row->error) : NULL;
        u->row.place = NULL;
        DL_APPEND(a->uploads, u);
        a->n_uploads++;
        return 0;
}

/* A file that was lost from the directory, or an impossible configuration, is a permanent failure here; a full
 * queue is not. */
static void upload_begin(ArtifactUpload *u) {
        Artifacts *a = u->artifacts;
        Error error = { 0 };
        int fd = local_open(a, u->row.id), r;

        u->place = s3_place(a, &u->row);
        if (fd < 0)
                r = error_set(&error, fd, "its file cannot be read: %s", strerror(-fd));
        else if (!u->place) {
                (void) fd_close(fd);
                r = error_set(&error, -ENOMEM, "out of memory");
        } else
                r = s3_request(a, "PUT", u->place, u->row.sha256, u->row.type, fd, 0, upload_on_uploaded, u, &u->request, &error);
        if (r >= 0)
                return;
        upload_failed(u, /* final= */ r != -EBUSY && r != -ENOMEM && r != -EMFILE && r != -ENFILE, error.text);
        artifact_upload_free(u);
}

void uploads_wake(Artifacts *a) {
        ArtifactUpload *u, *next;

        if (!artifacts_config(a)->s3 || !a->outbound || a->paused || a->n_uploads >= ARTIFACT_UPLOADS_MAX)
                return;
        (void) store_artifact_in_state(a->manager->store, ARTIFACT_PENDING, 0, 2 * ARTIFACT_UPLOADS_MAX, upload_collect, a);
        DL_FOREACH_SAFE(a->uploads, u, next)
                if (!u->request)
                        upload_begin(u);
}

/* Called at the end of a pause, or after an hour without one. */
static int upload_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Artifacts *a = userdata;

        if (!a->paused && a->stats.failed > 0 && store_artifact_retry(a->manager->store) >= 0) {
                a->stats.pending += a->stats.failed;
                a->stats.failed = 0;
        }
        a->paused = false;
        upload_arm(a);
        uploads_wake(a);
        return 0;
}

int uploads_start(Artifacts *a, Error *reterr) {
        int r = sd_event_add_time_relative(a->manager->event, &a->upload_timer, CLOCK_MONOTONIC, 0, 0, upload_on_timer, a);

        return r < 0 ? error_set(reterr, r, "cannot add artifacts to the loop: %s", strerror(-r)) : 0;
}
