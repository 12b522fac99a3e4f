/* internal.h: what the files of this room share. */
#pragma once

#include <systemd/sd-event.h>
#include <uthash.h>

#include "core/recorder.h"
#include "core/secret.h"
#include "json/json.h"
#include "record/record.h"

/* One that something was written to since we started. */
typedef struct Recording {
        char id[SANDBOX_ID_LENGTH + 1];
        uint64_t bytes; /* of contents, so far */
        UT_hash_handle hh;
} Recording;

struct Recorder {
        Manager *manager;
        CoreObserver observer;
        CoreRecorder hooks;
        int dirfd; /* DIR/recordings */
        Recording *recordings;
        struct EndJob *jobs;
        sd_event_source *turn;   /* while there are jobs */
        sd_event_source *expire;
        uint64_t last_temporary;
        bool complained; /* that something cannot be written; once */
};

/* recording.c */
Recording *recording_get(Recorder *r, const Sandbox *sb); /* NULL: it cannot be kept */
int recording_open_dir(const Recorder *r, const char *id);
void recording_line(Recorder *r, const Sandbox *sb, json_t *line); /* takes it; adds the time */
void recording_trouble(Recorder *r, const char *id, int error);
json_t *recording_env(const Strv *env);
json_t *recording_user(uint32_t uid, uint32_t gid);

/* blob.c: contents on their way, up to what the recording may still take. */
typedef struct Blob {
        int dirfd; /* of the recording */
        int fd;    /* -EBADF: nothing is kept of it, only counted */
        char temporary[48];
        SecretSha256 hash;
        uint64_t size;
} Blob;
#define BLOB_EMPTY { .dirfd = -EBADF, .fd = -EBADF }

int blob_begin(Recorder *r, const char *id, Blob *ret);
void blob_add(Recorder *r, Recording *recording, Blob *b, const void *data, size_t size);
json_t *blob_end(Blob *b); /* {size, sha256, cut}; it is there by that name */
void blob_drop(Blob *b);

/* files.c */
RecordedFile *record_file_begin(Sandbox *sb, const FileRequest *request, void *userdata);
void record_file_data(RecordedFile *f, const void *data, size_t size);
void record_file_end(RecordedFile *f, bool done);

/* executions.c */
void record_input(Execution *x, const void *data, size_t size, void *userdata);
void record_started(Execution *x, void *userdata);
void record_ended(Execution *x, void *userdata);
void record_jobs_free(Recorder *r);

/* expire.c */
int record_expire_start(Recorder *r, Error *reterr);
int record_remove(Recorder *r, const char *id);
