/* internal.h: what the files of this room share. */
#pragma once

#include <systemd/sd-event.h>
#include <uthash.h>

#include "core/ledger.h"
#include "core/recorder.h"
#include "core/secret.h"
#include "json/json.h"
#include "record/record.h"

/* One for each directory. */
typedef struct Recording {
        char id[SANDBOX_ID_LENGTH + 1];
        uint64_t bytes;     /* of contents, so far */
        uint64_t log_bytes;
        bool is_over;       /* expire.c's, while it looks */
        bool cut;           /* there was no room for a line: the log has ended, and says so */
        LedgerEntry charge; /* all files, each in whole blocks */
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
Recording *recording_find(const Recorder *r, const char *id); /* NULL: there is none, or not any more */
json_t *recording_first_line(int log_fd); /* the caller's; NULL: it cannot be read */
int recording_load(Recorder *r, const char *id); /* a directory that was found */
void recording_free(Recorder *r, Recording *recording); /* what is in memory */
/* A file of it grows, or shrinks, from so many bytes to so many: in the tenant's quota, what the disk can spare and recording.totalSize. */
int recording_resize(Recorder *r, Recording *recording, uint64_t from, uint64_t to, Error *reterr);
int recording_open_dir(const Recorder *r, const char *id);
void recording_line(Recorder *r, const Sandbox *sb, json_t *line); /* takes it; adds the time */
void recording_trouble(Recorder *r, const char *id, int error);
json_t *recording_env(const Strv *env);
json_t *recording_user(uint32_t uid, uint32_t gid);

/* blob.c: contents on their way, up to what the recording may still take. */
typedef struct Blob {
        Recorder *recorder;
        char id[SANDBOX_ID_LENGTH + 1];
        int dirfd; /* of the recording */
        int fd;    /* -EBADF: nothing is kept of it, only counted */
        char temporary[48];
        SecretSha256 hash;
        uint64_t size;
} Blob;
#define BLOB_EMPTY { .dirfd = -EBADF, .fd = -EBADF }

int blob_begin(Recorder *r, const char *id, Blob *ret);
void blob_add(Blob *b, const void *data, size_t size);
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
bool record_is_busy(const Recorder *r, const char *id); /* there is output to be read yet */

/* expire.c */
int record_expire_start(Recorder *r, Error *reterr);
int record_remove(Recorder *r, const char *id);
void record_make_room(Recorder *r, uint64_t more); /* for so many bytes, within recording.totalSize */
