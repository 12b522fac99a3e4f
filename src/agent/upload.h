/* upload.h: writes a small file from memory into a sandbox.
 *
 * The file is there as a whole when done reports success, and otherwise not at all. Must not know: its contents. */
#pragma once

#include "core/sandbox.h"

typedef struct AgentUpload AgentUpload;

/* error: 0, or a negative errno with a text. Called exactly once, never before upload_start() has returned. */
typedef void (*UploadDone)(int error, const char *text, void *userdata);

/* Makes missing parent directories. Copies the data. */
int upload_start(Sandbox *sb, const char *path, uint32_t mode, const void *data, size_t size, UploadDone done, void *userdata, AgentUpload **ret,
                Error *reterr);
AgentUpload *upload_free(AgentUpload *u); /* an unfinished upload leaves nothing behind */
