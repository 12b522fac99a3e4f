/* files.c: records file operations that change something, when they have succeeded. */

#include <stdlib.h>
#include <string.h>

#include "record/internal.h"

struct RecordedFile {
        Recorder *recorder;
        Sandbox *sandbox;
        FileRequest request;
        Blob blob;
        bool has_blob;
};

static const char *const names[_FILE_OPERATION_MAX] = {
        [FILE_WRITE] = "file",   [FILE_MKDIR] = "mkdir",   [FILE_MOVE] = "move",      [FILE_COPY] = "copy",
        [FILE_CHMOD] = "chmod",  [FILE_REMOVE] = "remove", [FILE_UNPACK] = "archive",
};

RecordedFile *record_file_begin(Sandbox *sb, const FileRequest *request, void *userdata) {
        Recorder *r = userdata;
        RecordedFile *f;

        if (request->operation >= _FILE_OPERATION_MAX || !names[request->operation] || !recording_get(r, sb))
                return NULL;
        f = calloc(1, sizeof(*f));
        if (!f)
                return NULL;
        f->recorder = r;
        f->request = *request;
        f->blob = (Blob) BLOB_EMPTY;
        f->sandbox = sandbox_ref(sb);
        if (request->operation == FILE_WRITE || request->operation == FILE_UNPACK) {
                int k = blob_begin(r, sb->id, &f->blob);

                f->has_blob = true;
                if (k < 0)
                        recording_trouble(r, sb->id, k);
        }
        return f;
}

void record_file_data(RecordedFile *f, const void *data, size_t size) {
        Sandbox *sb = sandbox_unless_gone(f->sandbox);
        Recording *recording = sb ? recording_get(f->recorder, sb) : NULL;

        if (f->has_blob && recording)
                blob_add(&f->blob, data, size);
}

/* In the terms of the API, which a replay uses. */
static void add_flags(json_t *line, const FileRequest *g) {
        const struct {
                const char *key;
                unsigned flag;
                bool value; /* when the flag is set */
                unsigned operations;
        } flags[] = {
                { "parents",   FILE_PARENTS,    true,  1u << FILE_WRITE | 1u << FILE_MKDIR                     },
                { "replace",   FILE_NO_REPLACE, false, 1u << FILE_WRITE | 1u << FILE_MOVE | 1u << FILE_COPY    },
                { "recursive", FILE_RECURSIVE,  true,  1u << FILE_COPY | 1u << FILE_CHMOD | 1u << FILE_REMOVE  },
                { "missingOk", FILE_MISSING_OK, true,  1u << FILE_REMOVE                                       },
        };

        for (size_t i = 0; i < ELEMENTSOF(flags); i++)
                if (flags[i].operations & 1u << g->operation)
                        (void) json_object_set_new(line, flags[i].key, json_boolean(((g->flags & flags[i].flag) != 0) == flags[i].value));
}

static json_t *files_describe(RecordedFile *f) {
        const FileRequest *g = &f->request;
        json_t *line = json_pack("{s:s, s:o, s:o}", "type", names[g->operation], "path", json_text_or_null(g->path), "user",
                        recording_user(g->uid, g->gid));

        if (!line)
                return NULL;
        if (g->target[0])
                (void) json_object_set_new(line, "target", json_text_or_null(g->target));
        if (g->mode != FILE_MODE_NONE)
                (void) json_object_set_new(line, "mode", json_sprintf("%04o", g->mode & 07777));
        if (g->owner != FILE_ID_NONE)
                (void) json_object_set_new(line, "owner", recording_user(g->owner, g->group));
        add_flags(line, g);
        if (f->has_blob)
                (void) json_object_set_new(line, "content", blob_end(&f->blob));
        return line;
}

void record_file_end(RecordedFile *f, bool done) {
        if (done && !sandbox_is_gone(f->sandbox))
                recording_line(f->recorder, f->sandbox, files_describe(f));
        else
                blob_drop(&f->blob);
        (void) sandbox_unref(f->sandbox);
        free(f);
}
