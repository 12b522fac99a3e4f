/* recorder.h: hooks for recording the input of a sandbox, for a replay.
 *
 * A recorder gets files and stdin here, as bytes; it sees executions as an observer (observer.h). Only sandboxes
 * that ask for it (spec.record) are recorded; for others this costs a check of one flag. A recorder must return
 * soon and must not make the recorded operation fail.
 * Must not know: where the recording is kept. */
#pragma once

#include "base/file-request.h"
#include "core/manager.h"

typedef struct RecordedFile RecordedFile;

typedef struct CoreRecorder {
        /* A file operation that changes something has begun; the data are those of a write or of an archive. NULL: it is
         * not recorded. file_end() frees it. */
        RecordedFile *(*file_begin)(Sandbox *sb, const FileRequest *request, void *userdata);
        void (*file_data)(RecordedFile *f, const void *data, size_t size);
        void (*file_end)(RecordedFile *f, bool done);
        /* Data that a caller has written to the stdin of an execution. */
        void (*input)(Execution *x, const void *data, size_t size, void *userdata);
        void *userdata;
} CoreRecorder;

void manager_set_recorder(Manager *m, const CoreRecorder *recorder); /* NULL: removes it */

static inline const CoreRecorder *recorder_of(const Sandbox *sb) {
        return sb->spec.record ? sb->manager->recorder : NULL;
}
