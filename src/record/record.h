/* record.h: recordings: the input of a sandbox, kept for a replay.
 *
 *      DIR/recordings/ID/log          lines of JSON: what the sandbox was made of, then each file operation, each
 *                                     execution and its end, in order
 *                       SHA-256       contents of files, input and output: each content once
 *                       in-*, stdin-* contents that are not complete yet
 *                       cut           exists if the log has ended early
 *
 * Only sandboxes with spec.record are recorded. A recording has no row in the store, so the directory cannot disagree
 * with one. A recording has a ceiling (recording.maxSize), and the tenant is charged for its disk space
 * (LEDGER_RECORDING). A content that does not fit is recorded by its size and hash, and marked as cut. A line that does
 * not fit ends the log; its last line then says so. A failure to record never fails the operation that is recorded.
 * A recording is removed recording.keep after its last line, once its sandbox has ended. When all recordings exceed
 * recording.totalSize, the tenant that holds most loses its oldest ones, of sandboxes that have ended.
 * Values of secrets appear in no line (references do) and in no output, which is kept as it is shown (core/mask.h).
 * May use: core, config, json. Must not know: HTTP, SQL, how a replay is done. */
#pragma once

#include "core/manager.h"

typedef struct Recorder Recorder;

int recorder_new(Manager *m, Recorder **ret, Error *reterr); /* registers itself with the manager */
Recorder *recorder_free(Recorder *r);

#define RECORD_BLOB_LENGTH 64

/* sandbox: id, name or beginning of the id of an existing sandbox, or the id of a former one. Returns a descriptor.
 * -ENOENT: there is no recording that this principal may see. */
int recorder_open_log(Recorder *r, const Principal *who, const char *sandbox);
int recorder_open_blob(Recorder *r, const Principal *who, const char *sandbox, const char *sha256);
