/* volumes.h: volumes in E2B's API, and access to their files without a sandbox of the client.
 *
 * Operations on a volume's files run in a helper sandbox, which is created on demand, has only the volume,
 * and is deleted after a minute without requests. It is found by its name, so all requests share it. Access
 * needs only a token that is derived from the volume's id.
 * Must not know: the formats of the native surface. */
#pragma once

#include "api/e2b/template/templates.h"
#include "core/fileop.h"
#include "state/state.h"

#define E2B_VOLUME_PLACE "/volume" /* in the helper sandbox */

#define E2B_VOLUME_TOKEN_SIZE (sizeof(CREDENTIAL_VOLUME) + E2B_SIGNATURE_SIZE)
void e2b_volume_token(const Api *api, const char *id, char ret[static E2B_VOLUME_TOKEN_SIZE]);
void e2b_volume_helper_name(const Volume *v, char ret[static 64]);

/* Errors in the format of volumes: {"code": a word, "message"}. */
int e2b_volume_refuse(ApiRequest *q, unsigned status, const char *message);
void e2b_volume_fail(ApiRequest *q, int r, const char *path);

/* One operation; it is the request's state. */
typedef struct VolumeCall {
        ApiRequest *q;
        struct Acquisition *acquisition;
        FileOp *op;
        FileRequest request;
        const FileOpHandlers *handlers;
        char *path;        /* for messages: relative to the volume */
        bool started;      /* the operation has started */

        FileEntry entry;
        bool has_entry;
        int fd;            /* of the file being read */
        json_t *list;
        bool ended;        /* the whole body arrived before the sandbox was ready */
        bool committed;
} VolumeCall;

ssize_t e2b_volume_put(VolumeCall *call, const void *data, size_t size); /* returns the bytes taken; size 0: the end */

int e2b_volume_identify(ApiRequest *q); /* ApiRoute.identify: by the volume's token */
/* Reads ?path= and creates the call; NULL: answered. */
VolumeCall *e2b_volume_call(ApiRequest *q, FileOperation operation);
/* Finds or creates the sandbox, and starts the operation. */
void e2b_volume_begin(VolumeCall *call, const FileOpHandlers *handlers);

json_t *e2b_volume_entry(const FileEntry *e, const char *path);

/* Handlers. */
void e2b_volume_make(ApiRequest *q);
void e2b_volume_list(ApiRequest *q);
void e2b_volume_get(ApiRequest *q);
void e2b_volume_remove(ApiRequest *q);
void e2b_volume_stat(ApiRequest *q);
void e2b_volume_change(ApiRequest *q);
void e2b_volume_delete_path(ApiRequest *q);
void e2b_volume_dir(ApiRequest *q);
void e2b_volume_mkdir(ApiRequest *q);
void e2b_volume_read(ApiRequest *q);
void e2b_volume_write(ApiRequest *q);
ssize_t e2b_volume_write_data(ApiRequest *q, const void *data, size_t size);
