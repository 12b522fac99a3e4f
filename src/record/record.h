/* record.h: what went into sandboxes, kept so that it can be done again.
 *
 *      DIR/recordings/ID/log          lines of JSON: what it was made of, and in order each file operation, each execution and its end
 *                       SHA-256       files that were put in, input, output: each content once
 *                       in-*, stdin-* on their way there
 *                       cut           the log has ended early
 *
 * Of sandboxes with spec.record alone. The directory is all there is: no row, so that nothing can disagree. A recording has a ceiling
 * (recording.maxSize), and what it takes on disk is its tenant's (LEDGER_RECORDING). What is beyond is named, with size and hash, and marked as cut; a line for which there is no room
 * is the end of the log, whose last line then says so. What it records never fails for it. It goes recording.keep after the sandbox's last line, and when all are more than
 * recording.totalSize, the oldest that has ended of the tenant that holds most.
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
