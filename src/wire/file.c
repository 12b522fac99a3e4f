#include "wire/file.h"

#include <string.h>

#include "wire/shape.h"

#define DETAILED  2u   /* beside `hard`: details follow */

static const ShapeField entry_fields[] = {
        { "path",   SHAPE_CHARS, SHAPE_AT(FileEntry, path)   },
        { "target", SHAPE_CHARS, SHAPE_AT(FileEntry, target) },
};
static const Shape entry = SHAPE_OF(entry, FileEntry);

static const ShapeField numbers_fields[] = {
        { "mode",   SHAPE_UINT32, offsetof(FileEntry, mode)       },
        { "uid",    SHAPE_UINT32, offsetof(FileEntry, uid)        },
        { "gid",    SHAPE_UINT32, offsetof(FileEntry, gid)        },
        { "size",   WIRE_COUNT(FileEntry, size)                   },
        { "inode",  SHAPE_UINT64, offsetof(FileEntry, inode)      },
        { "device", SHAPE_UINT64, offsetof(FileEntry, device)     },
        { "mtime",  SHAPE_INT64,  offsetof(FileEntry, mtime_nsec) },
        { "ctime",  SHAPE_INT64,  offsetof(FileEntry, ctime_nsec) },
};
static const Shape numbers = SHAPE_OF(numbers, FileEntry);

static const ShapeField details_fields[] = {
        { "targetMode", SHAPE_UINT32, offsetof(FileEntry, target_mode) },
        { "owner",      SHAPE_CHARS,  SHAPE_AT(FileEntry, owner)       },
        { "group",      SHAPE_CHARS,  SHAPE_AT(FileEntry, group)       },
        { "labels",     SHAPE_VIEW,   offsetof(FileEntry, labels), .count = offsetof(FileEntry, labels_size) },
};
static const Shape details = SHAPE_OF(details, FileEntry);

static void entry_put_rest(WireWriter *w, const void *fields) {
        const FileEntry *e = fields;

        wire_put_uint(w, e->hard | (e->detailed ? DETAILED : 0u), 1);
        wire_put_shape(w, &numbers, e);
        if (e->detailed)
                wire_put_shape(w, &details, e);
}

static bool entry_get_rest(WireReader *r, unsigned type, void *fields) {
        FileEntry *e = fields;
        uint64_t flags = wire_get_uint(r, 1);

        e->hard = flags & 1;
        e->detailed = flags & DETAILED;
        wire_get_shape(r, &numbers, e);
        if (e->detailed)
                wire_get_shape(r, &details, e);
        return !r->failed && flags <= (type == FILE_ENTRY ? 1 | DETAILED : 1) && file_labels_check(e->labels, e->labels_size);
}

static const ShapeField count_fields[] = { { "count", SHAPE_UINT64, 0 } };
static const Shape count = SHAPE_OF(count, uint64_t);

static const ShapeField failure_fields[] = {
        { "error", SHAPE_INT,   offsetof(FileFailure, error), .min = 1, .max = WIRE_ERROR_MAX },
        { "path",  SHAPE_CHARS, SHAPE_AT(FileFailure, path)                                   },
};
static const Shape failure = SHAPE_OF(failure, FileFailure);

static const ShapeField event_fields[] = {
        { "kind",      SHAPE_UINT8, offsetof(FileEvent, kind), .min = FILE_CREATED, .max = _FILE_EVENT_MAX - 1 },
        { "directory", SHAPE_BOOL,  offsetof(FileEvent, directory) },
        { "path",      SHAPE_CHARS, SHAPE_AT(FileEvent, path)      },
        { "target",    SHAPE_CHARS, SHAPE_AT(FileEvent, target)    },
};
static const Shape event = SHAPE_OF(event, FileEvent);

static const ShapeField data_fields[] = {
        { "data", SHAPE_VIEW, offsetof(FileData, data), .count = offsetof(FileData, size) },
};
static const Shape data_shape = SHAPE_OF(data, FileData);

static bool data_check(unsigned type, const void *fields) {
        const FileData *d = fields;

        return d->size > 0 && d->size <= FILE_DATA_MAX;
}

static const WireLine file_lines[_FILE_TYPE_MAX] = {
        [FILE_ENTRY]  = WIRE_LINE(FileMessage, entry, entry, .put_rest = entry_put_rest, .get_rest = entry_get_rest),
        [FILE_END]    = WIRE_LINE(FileMessage, count, count),
        [FILE_FAILED] = WIRE_LINE(FileMessage, failure, failure),
        [FILE_EVENT]  = WIRE_LINE(FileMessage, event, event),
        [FILE_COMMIT] = WIRE_NOTHING,
        [FILE_PUT]    = WIRE_LINE(FileMessage, entry, entry, .put_rest = entry_put_rest, .get_rest = entry_get_rest),
        [FILE_DATA]   = WIRE_LINE(FileMessage, bytes, data_shape, .check = data_check),
};

static const WireSet file_set = { file_lines, _FILE_TYPE_MAX, .type = offsetof(FileMessage, type) };
WIRE_CODEC(file_encode, file_decode, FileMessage, file_set);
