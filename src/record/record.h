/* record.h: what went into sandboxes, kept so that it can be done again.
 *
 *      DIR/recordings/ID/log          lines of JSON: what it was made of, and in order each file operation, each execution and its end
 *                       SHA-256       files that were put in, input, output: each content once
 *                       in-*, stdin-* on their way there
 *
 * Of sandboxes with spec.record alone. The directory is all there is: no row, so that nothing can disagree. A recording has a ceiling
 * (recording.maxSize); what is beyond it is named, with size and hash, and marked as cut. It goes recording.keep after the sandbox's last line.
 * Values of secrets are in no line (references are), and in no output (it is kept as it is shown, core/mask.h).
 * May use: core, config, json. Must not know: HTTP, SQL, how a replay is done. */
#pragma once

#include "core/manager.h"

typedef struct Recorder Recorder;

int recorder_new(Manager *m, Recorder **ret, Error *reterr); /* hangs itself in */
Recorder *recorder_free(Recorder *r);

#define RECORD_BLOB_LENGTH 64

/* By id or name of a sandbox that is there, or by the id of one that was. A descriptor. -ENOENT: there is no recording that this principal may see. */
int recorder_open_log(Recorder *r, const Principal *who, const char *sandbox);
int recorder_open_blob(Recorder *r, const Principal *who, const char *sandbox, const char *sha256);
