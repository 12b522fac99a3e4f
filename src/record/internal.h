/* internal.h: declarations shared by the files of this room. */
#pragma once

#include <systemd/sd-event.h>
#include <uthash.h>

#include "core/ledger.h"
#include "core/recorder.h"
#include "core/secret.h"
#include "json/json.h"
#include "record/record.h"

/* One per directory of DIR/recordings. */
typedef struct Recording {
        char id[SANDBOX_ID_LENGTH + 1];
        uint64_t bytes;     /* of contents, so far */
        uint64_t log_bytes;
        bool is_over;       /* private to expire.c, during one search */
        bool cut;           /* a line did not fit: the log has ended, and its last line says so */
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
        bool complained; /* a write failure was logged; only the first one is */
};

/* recording.c */
Recording *recording_get(Recorder *r, const Sandbox *sb); /* found or created; NULL: it cannot be created */
Recording *recording_find(const Recorder *r, const char *id); /* NULL: there is none */
json_t *recording_first_line(int log_fd); /* the caller's; NULL: it cannot be read */
int recording_load(Recorder *r, const char *id); /* from a directory of an earlier daemon */
void recording_free(Recorder *r, Recording *recording); /* the object; the directory stays */
/* Charges a change of one file's size, from `from` to `to` bytes. A file that grows must fit into the tenant's quota,
 * the free space of the disk and recording.totalSize. */
int recording_resize(Recorder *r, Recording *recording, uint64_t from, uint64_t to, Error *reterr);
int recording_open_dir(const Recorder *r, const char *id);
void recording_line(Recorder *r, const Sandbox *sb, json_t *line); /* takes the line and adds the time */
void recording_trouble(Recorder *r, const char *id, int error);
json_t *recording_env(const Strv *env);
json_t *recording_user(uint32_t uid, uint32_t gid);

/* blob.c: one content while it is being written, as long as it fits into the recording. */
typedef struct Blob {
        Recorder *recorder;
        char id[SANDBOX_ID_LENGTH + 1];
        int dirfd; /* of the recording */
        int fd;    /* -EBADF: the content is not kept; only its size and hash are */
        char temporary[48];
        SecretSha256 hash;
        uint64_t size;
} Blob;
#define BLOB_EMPTY { .dirfd = -EBADF, .fd = -EBADF }

int blob_begin(Recorder *r, const char *id, Blob *ret);
void blob_add(Blob *b, const void *data, size_t size);
json_t *blob_end(Blob *b); /* {size, sha256, cut}; unless cut, the file has its hash as its name */
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
bool record_is_busy(const Recorder *r, const char *id); /* output of the sandbox is still being copied */

/* expire.c */
int record_expire_start(Recorder *r, Error *reterr);
int record_remove(Recorder *r, const char *id);
/* Removes recordings until `more` bytes fit into recording.totalSize; never `spare`. */
void record_make_room(Recorder *r, const Recording *spare, uint64_t more);
