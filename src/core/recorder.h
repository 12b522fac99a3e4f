/* recorder.h: where what goes into a sandbox passes whoever keeps it for a replay.
 *
 * Executions are seen by an observer (observer.h); files and input pass here, as bytes. Only of sandboxes that ask for it (spec.record); for all
 * others this is one look at a flag. A recorder must return soon and must not fail what it looks at.
 * Must not know: where it is kept. */
#pragma once

#include "base/file-request.h"
#include "core/manager.h"

typedef struct RecordedFile RecordedFile;

typedef struct CoreRecorder {
        /* A file operation that changes something has begun; data of a write, or of an archive. NULL: is not kept. The end frees it. */
        RecordedFile *(*file_begin)(Sandbox *sb, const FileRequest *request, void *userdata);
        void (*file_data)(RecordedFile *f, const void *data, size_t size);
        void (*file_end)(RecordedFile *f, bool done);
        /* What a caller has written to the input of an execution. */
        void (*input)(Execution *x, const void *data, size_t size, void *userdata);
        void *userdata;
} CoreRecorder;

void manager_set_recorder(Manager *m, const CoreRecorder *recorder); /* NULL: there is none any more */

static inline const CoreRecorder *recorder_of(const Sandbox *sb) {
        return sb->spec.record ? sb->manager->recorder : NULL;
}
