/* volumes.h: volumes in this dialect, and what is in them without a sandbox of one's own.
 *
 * A volume's files are looked at and changed through a sandbox that is made for it when somebody asks, has nothing but the volume, and goes when nobody has asked for a minute; it is
 * found by its name, so that all who ask share it. Who may is said by a token alone, which is derived from the volume's id.
 * Must not know: how the native surface looks. */
#pragma once

#include "api/e2b/template/templates.h"
#include "core/fileop.h"
#include "state/state.h"

#define E2B_VOLUME_PLACE "/volume" /* in that sandbox */

#define E2B_VOLUME_TOKEN_SIZE (sizeof(CREDENTIAL_VOLUME) + E2B_SIGNATURE_SIZE)
void e2b_volume_token(const Api *api, const char *id, char ret[static E2B_VOLUME_TOKEN_SIZE]);
void e2b_volume_helper_name(const Volume *v, char ret[static 64]);

/* Its errors: {"code": a word, "message"}. */
int e2b_volume_refuse(ApiRequest *q, unsigned status, const char *message);
void e2b_volume_fail(ApiRequest *q, int r, const char *path);

/* One operation, as the request's state. */
typedef struct VolumeCall {
        ApiRequest *q;
        struct Acquisition *acquisition;
        FileOp *op;
        FileRequest request;
        const FileOpHandlers *handlers;
        char *path;        /* as it is told: of the volume */
        bool started;      /* the operation has begun */

        FileEntry entry;
        bool has_entry;
        int fd;            /* of what is read */
        json_t *list;
        bool ended;        /* all has come, before the sandbox was there */
        bool committed;
} VolumeCall;

ssize_t e2b_volume_put(VolumeCall *call, const void *data, size_t size); /* how much was taken; size 0: that was all */

int e2b_volume_identify(ApiRequest *q); /* ApiRoute.identify: by the volume's token */
/* Reads ?path= and makes the call; NULL: answered. */
VolumeCall *e2b_volume_call(ApiRequest *q, FileOperation operation);
/* Finds the sandbox and begins. */
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
