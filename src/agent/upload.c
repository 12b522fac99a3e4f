#include "agent/upload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fileop.h"

struct AgentUpload {
        FileOp *op;
        char *data;
        char path[FILE_PATH_BYTES];
        UploadDone done;
        void *userdata;
};

AgentUpload *upload_free(AgentUpload *u) {
        if (!u)
                return NULL;
        fileop_free(u->op);
        free(u->data);
        free(u);
        return NULL;
}

static void upload_finish(AgentUpload *u, int error) {
        char text[512];

        (void) snprintf(text, sizeof(text), "cannot write '%.200s': %s", u->path,
                        error == -EPIPE ? "the sandbox has ended" : strerror(-error));
        u->done(error, error < 0 ? text : "", u->userdata); /* may free it */
}

static void upload_on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        upload_finish(userdata, error);
}

int upload_start(Sandbox *sb, const char *path, uint32_t mode, const void *data, size_t size, UploadDone done, void *userdata, AgentUpload **ret,
                Error *reterr) {
        static const FileOpHandlers handlers = { .end = upload_on_end };
        FileRequest request = {
                .operation = FILE_WRITE,
                .flags = FILE_PARENTS,
                .uid = sb->spec.uid,
                .gid = sb->spec.gid,
                .mode = mode,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
        };
        AgentUpload *u = calloc(1, sizeof(*u));
        int r;

        if (!u)
                return error_set(reterr, -ENOMEM, "out of memory");
        *u = (AgentUpload) { .done = done, .userdata = userdata };
        (void) snprintf(u->path, sizeof(u->path), "%s", path);
        memcpy(request.path, u->path, sizeof(request.path));
        u->data = malloc(size + 1);
        r = u->data ? 0 : error_set(reterr, -ENOMEM, "out of memory");
        if (r >= 0) {
                memcpy(u->data, data, size);
                r = fileop_start(sb, &request, &handlers, u, &u->op, reterr);
        }
        if (r >= 0) {
                r = fileop_write_all(u->op, u->data, size);
                if (r == -EPIPE)
                        r = 0; /* the end of the operation reports it */
                if (r < 0)
                        (void) error_set(reterr, r, "cannot write '%s': %m", path);
        }
        if (r < 0) {
                (void) upload_free(u);
                return r;
        }
        *ret = u;
        return 0;
}
