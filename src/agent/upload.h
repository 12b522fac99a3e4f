/* upload.h: a small file written into a sandbox, from memory.
 *
 * There when done says so, whole, or not at all. Must not know: what is in it. */
#pragma once

#include "core/sandbox.h"

typedef struct AgentUpload AgentUpload;

/* error: 0, or a negative errno with a text. Exactly once, never before upload_start() has returned. */
typedef void (*UploadDone)(int error, const char *text, void *userdata);

/* Directories on the way are made. Copies the data. */
int upload_start(Sandbox *sb, const char *path, uint32_t mode, const void *data, size_t size, UploadDone done, void *userdata, AgentUpload **ret,
                Error *reterr);
AgentUpload *upload_free(AgentUpload *u); /* also in the middle: then nothing of it remains */
