#include "wire/file.h"

#include <errno.h>
#include <string.h>

#include "wire/codec.h"

#define ERROR_MAX 4095 /* the kernel's */
#define DETAILED  2u   /* beside `hard`: details follow */

static void file_put_details(WireWriter *w, const FileEntry *e) {
        wire_put_uint(w, e->target_mode, 4);
        wire_put_string(w, e->owner, FILE_NAME_BYTES);
        wire_put_string(w, e->group, FILE_NAME_BYTES);
        wire_put_bytes(w, e->labels, e->labels_size);
}

static bool get_details(WireReader *r, FileEntry *e) {
        e->detailed = true;
        e->target_mode = (uint32_t) wire_get_uint(r, 4);
        wire_get_string(r, e->owner, FILE_NAME_BYTES);
        wire_get_string(r, e->group, FILE_NAME_BYTES);
        wire_get_bytes(r, &e->labels, &e->labels_size);
        return !r->failed && file_labels_check(e->labels, e->labels_size);
}

static void wire_file_put_entry(WireWriter *w, const FileMessage *m) {
        const FileEntry *e = &m->entry;

        wire_put_string(w, e->path, FILE_PATH_BYTES);
        wire_put_string(w, e->target, FILE_PATH_BYTES);
        wire_put_uint(w, e->hard | (e->detailed ? DETAILED : 0u), 1);
        wire_put_uint(w, e->mode, 4);
        wire_put_uint(w, e->uid, 4);
        wire_put_uint(w, e->gid, 4);
        wire_put_uint(w, e->size, 8);
        wire_put_uint(w, e->inode, 8);
        wire_put_uint(w, e->device, 8);
        wire_put_uint(w, (uint64_t) e->mtime_nsec, 8);
        wire_put_uint(w, (uint64_t) e->ctime_nsec, 8);
        if (e->detailed)
                file_put_details(w, e);
}

static bool get_entry(WireReader *r, FileMessage *m) {
        FileEntry *e = &m->entry;
        uint64_t flags;

        wire_get_string(r, e->path, FILE_PATH_BYTES);
        wire_get_string(r, e->target, FILE_PATH_BYTES);
        flags = wire_get_uint(r, 1);
        e->hard = flags & 1;
        e->mode = (uint32_t) wire_get_uint(r, 4);
        e->uid = (uint32_t) wire_get_uint(r, 4);
        e->gid = (uint32_t) wire_get_uint(r, 4);
        e->size = wire_get_uint(r, 8);
        e->inode = wire_get_uint(r, 8);
        e->device = wire_get_uint(r, 8);
        e->mtime_nsec = (int64_t) wire_get_uint(r, 8);
        e->ctime_nsec = (int64_t) wire_get_uint(r, 8);
        if (flags > (m->type == FILE_ENTRY ? 1 | DETAILED : 1) || e->size > INT64_MAX)
                return false;
        return !(flags & DETAILED) || get_details(r, e);
}

static void file_put_count(WireWriter *w, const FileMessage *m) {
        wire_put_uint(w, m->count, 8);
}

static bool get_count(WireReader *r, FileMessage *m) {
        m->count = wire_get_uint(r, 8);
        return true;
}

static void file_put_failure(WireWriter *w, const FileMessage *m) {
        wire_put_uint(w, (uint32_t) m->failure.error, 4);
        wire_put_string(w, m->failure.path, FILE_PATH_BYTES);
}

static bool file_get_failure(WireReader *r, FileMessage *m) {
        m->failure.error = (int32_t) wire_get_uint(r, 4);
        wire_get_string(r, m->failure.path, FILE_PATH_BYTES);
        return m->failure.error > 0 && m->failure.error <= ERROR_MAX;
}

static void file_put_event(WireWriter *w, const FileMessage *m) {
        wire_put_uint(w, m->event.kind, 1);
        wire_put_uint(w, m->event.directory, 1);
        wire_put_string(w, m->event.path, FILE_PATH_BYTES);
        wire_put_string(w, m->event.target, FILE_PATH_BYTES);
}

static bool get_event(WireReader *r, FileMessage *m) {
        m->event.kind = (uint8_t) wire_get_uint(r, 1);
        m->event.directory = (uint8_t) wire_get_uint(r, 1);
        wire_get_string(r, m->event.path, FILE_PATH_BYTES);
        wire_get_string(r, m->event.target, FILE_PATH_BYTES);
        return m->event.kind >= FILE_CREATED && m->event.kind < _FILE_EVENT_MAX && m->event.directory <= 1;
}

static void put_data(WireWriter *w, const FileMessage *m) {
        if (m->bytes.size == 0 || m->bytes.size > FILE_DATA_MAX)
                w->failed = true;
        wire_put_bytes(w, m->bytes.data, m->bytes.size);
}

static bool get_data(WireReader *r, FileMessage *m) {
        wire_get_bytes(r, &m->bytes.data, &m->bytes.size);
        return m->bytes.size > 0 && m->bytes.size <= FILE_DATA_MAX;
}

static void file_put_nothing(WireWriter *w, const FileMessage *m) {
}

static bool file_get_nothing(WireReader *r, FileMessage *m) {
        return true;
}

/* A type that is not here does not exist. */
static const struct {
        void (*put)(WireWriter *w, const FileMessage *m);
        bool (*get)(WireReader *r, FileMessage *m); /* false: a value that nobody would send */
} types[_FILE_TYPE_MAX] = {
        [FILE_ENTRY]  = { wire_file_put_entry,   get_entry   },
        [FILE_END]    = { file_put_count,   get_count   },
        [FILE_FAILED] = { file_put_failure, file_get_failure },
        [FILE_EVENT]  = { file_put_event,   get_event   },
        [FILE_COMMIT] = { file_put_nothing, file_get_nothing },
        [FILE_PUT]    = { wire_file_put_entry,   get_entry   },
        [FILE_DATA]   = { put_data,    get_data    },
};

ssize_t file_encode(const FileMessage *message, uint8_t *buffer, size_t size) {
        WireWriter w = { .p = buffer, .end = buffer + size };

        if (message->type >= _FILE_TYPE_MAX || !types[message->type].put)
                return -EINVAL;
        wire_put_uint(&w, message->type, 2);
        wire_put_uint(&w, 0, 2);
        types[message->type].put(&w, message);
        return w.failed ? -ENOSPC : w.p - buffer;
}

int file_decode(const uint8_t *data, size_t size, FileMessage *ret) {
        WireReader r = { .p = data, .end = data + size };
        FileMessage m = { 0 };
        uint64_t type = wire_get_uint(&r, 2), reserved = wire_get_uint(&r, 2);

        if (r.failed || reserved != 0 || type >= _FILE_TYPE_MAX || !types[type].get)
                return -EBADMSG;
        m.type = (FileType) type;
        if (!types[type].get(&r, &m) || !wire_reader_at_end(&r))
                return -EBADMSG;

        *ret = m;
        return 0;
}
