/* Messages of file operations as bytes. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "wire/file.h"

#define HEADER 4

static const uint8_t bytes[] = { 0, 1, 2, 0xff, 'x' };

static const FileMessage entry = {
        .type = FILE_ENTRY,
        .entry = {
                .path = "a/\xff\n", .mode = S_IFREG | 0644, .uid = 1000, .gid = 1001,
                .size = UINT64_C(0x0123456789abcdef), .inode = 7, .device = UINT64_MAX, .mtime_nsec = -5, .ctime_nsec = INT64_MAX,
        },
};
static const FileMessage put = {
        .type = FILE_PUT,
        .entry = { .path = "b", .target = "a", .hard = 1, .mode = S_IFREG | 0755, .mtime_nsec = INT64_MIN },
};
static const FileMessage detailed = {
        .type = FILE_ENTRY,
        .entry = {
                .path = "link", .target = "/home/user/x", .mode = S_IFLNK | 0777, .detailed = true, .target_mode = S_IFREG | 0600, .owner = "user", .group = "\xff",
                .labels = (const uint8_t *) "author\0me\0empty\0", .labels_size = 17,
        },
};
static const FileMessage detailed_bare = { .type = FILE_ENTRY, .entry = { .path = "x", .mode = S_IFREG, .detailed = true } };
static const FileMessage end = { .type = FILE_END, .count = UINT64_MAX };
static const FileMessage failed = { .type = FILE_FAILED, .failure = { .error = ENOSPC, .path = "/home/user/x" } };
static const FileMessage failed_bare = { .type = FILE_FAILED, .failure = { .error = 4095 } };
static const FileMessage event = {
        .type = FILE_EVENT,
        .event = { .kind = FILE_RENAMED, .directory = 1, .path = "old", .target = "new" },
};
static const FileMessage overflow = { .type = FILE_EVENT, .event = { .kind = FILE_OVERFLOW } };
static const FileMessage commit = { .type = FILE_COMMIT };
static const FileMessage data = { .type = FILE_DATA, .bytes = { .data = bytes, .size = sizeof(bytes) } };

static const struct {
        const char *name;
        const FileMessage *message;
} samples[] = {
        { "entry",       &entry       },
        { "detailed",    &detailed    },
        { "no details",  &detailed_bare },
        { "put",         &put         },
        { "end",         &end         },
        { "failed",      &failed      },
        { "failed bare", &failed_bare },
        { "event",       &event       },
        { "overflow",    &overflow    },
        { "commit",      &commit      },
        { "data",        &data        },
};

static uint8_t buffer[FILE_MESSAGE_MAX];

static size_t encode(const FileMessage *m) {
        ssize_t n = file_encode(m, buffer, sizeof(buffer));

        check_true("file_encode", n > 0);
        return (size_t) n;
}

static void check_entry(const char *what, const FileEntry *found, const FileEntry *expected) {
        check_string(what, found->path, expected->path);
        check_string(what, found->target, expected->target);
        check_uint(what, found->hard, expected->hard);
        check_uint(what, found->mode, expected->mode);
        check_uint(what, found->uid, expected->uid);
        check_uint(what, found->gid, expected->gid);
        check_uint(what, found->size, expected->size);
        check_uint(what, found->inode, expected->inode);
        check_uint(what, found->device, expected->device);
        check_int(what, found->mtime_nsec, expected->mtime_nsec);
        check_int(what, found->ctime_nsec, expected->ctime_nsec);
        check_int(what, found->detailed, expected->detailed);
        check_uint(what, found->target_mode, expected->target_mode);
        check_string(what, found->owner, expected->owner);
        check_string(what, found->group, expected->group);
        check_uint(what, found->labels_size, expected->labels_size);
        check_true(what, found->labels_size == 0 || memcmp(found->labels, expected->labels, found->labels_size) == 0);
}

static void check_message(const char *what, const FileMessage *found, const FileMessage *expected) {
        check_int(what, found->type, expected->type);
        switch (expected->type) {
        case FILE_ENTRY:
        case FILE_PUT: check_entry(what, &found->entry, &expected->entry); break;
        case FILE_END: check_uint(what, found->count, expected->count); break;
        case FILE_FAILED:
                check_int(what, found->failure.error, expected->failure.error);
                check_string(what, found->failure.path, expected->failure.path);
                break;
        case FILE_EVENT:
                check_uint(what, found->event.kind, expected->event.kind);
                check_uint(what, found->event.directory, expected->event.directory);
                check_string(what, found->event.path, expected->event.path);
                check_string(what, found->event.target, expected->event.target);
                break;
        case FILE_DATA:
                check_uint(what, found->bytes.size, expected->bytes.size);
                check_true(what, memcmp(found->bytes.data, expected->bytes.data, expected->bytes.size) == 0);
                break;
        case FILE_COMMIT:
        case _FILE_TYPE_MAX:
        default: break;
        }
}

static void check_refused(const char *what, const uint8_t *message, size_t size) {
        static FileMessage m;

        memset(&m, 0x5a, sizeof(m));
        check_result(what, file_decode(message, size, &m), -EBADMSG);
        for (size_t i = 0; i < sizeof(m); i++)
                if (((const uint8_t *) &m)[i] != 0x5a)
                        check_uint("output untouched", ((const uint8_t *) &m)[i], 0x5a);
}

TEST(what_is_sent_arrives) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                size_t n = encode(samples[i].message);
                FileMessage m;

                check_result(samples[i].name, file_decode(buffer, n, &m), 0);
                check_message(samples[i].name, &m, samples[i].message);
        }
}

TEST(data_points_into_the_message) {
        size_t n = encode(&data);
        FileMessage m;

        check_result("decode", file_decode(buffer, n, &m), 0);
        check_true("inside", m.bytes.data >= buffer && m.bytes.data + m.bytes.size <= buffer + n);
}

TEST(bytes_are_as_documented) {
        static const uint8_t expected[] = { FILE_END, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0 };
        FileMessage m = { .type = FILE_END, .count = 258 };

        check_uint("size", encode(&m), sizeof(expected));
        check_true("bytes", memcmp(buffer, expected, sizeof(expected)) == 0);
}

TEST(cut_messages_are_refused) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                size_t n = encode(samples[i].message);

                for (size_t cut = 0; cut < n; cut++)
                        check_refused(samples[i].name, buffer, cut);
        }
}

TEST(longer_messages_are_refused) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                size_t n = encode(samples[i].message);

                buffer[n] = 0;
                check_refused(samples[i].name, buffer, n + 1);
        }
}

TEST(small_buffers_are_refused) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                size_t n = encode(samples[i].message);

                for (size_t room = 0; room < n; room++)
                        check_result(samples[i].name, file_encode(samples[i].message, buffer, room), -ENOSPC);
        }
}

TEST(unknown_types_are_refused) {
        static const unsigned types[] = { 0, _FILE_TYPE_MAX, 99, 0xffff };

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                uint8_t message[HEADER] = { (uint8_t) types[i], (uint8_t) (types[i] >> 8) };
                FileMessage m = { .type = (FileType) types[i] };

                check_refused("type", message, sizeof(message));
                check_result("encode", file_encode(&m, buffer, sizeof(buffer)), -EINVAL);
        }
}

TEST(the_reserved_field_is_zero) {
        size_t n = encode(&commit);

        buffer[2] = 1;
        check_refused("reserved", buffer, n);
}

/* Values that no worker would send. */
TEST(impossible_values_are_refused) {
        FileMessage m;

        m = entry;
        m.entry.hard = 2;
        check_refused("hard", buffer, encode(&m));
        m = entry;
        m.entry.size = (uint64_t) INT64_MAX + 1;
        check_refused("size", buffer, encode(&m));
        m = failed;
        m.failure.error = 0;
        check_refused("error 0", buffer, encode(&m));
        m.failure.error = 4096;
        check_refused("error 4096", buffer, encode(&m));
        m.failure.error = -ENOENT;
        check_refused("error negative", buffer, encode(&m));
        m = event;
        m.event.kind = 0;
        check_refused("kind 0", buffer, encode(&m));
        m.event.kind = _FILE_EVENT_MAX;
        check_refused("kind beyond", buffer, encode(&m));
        m = event;
        m.event.directory = 2;
        check_refused("directory", buffer, encode(&m));
}

TEST(a_nul_in_a_path_is_refused) {
        size_t n = encode(&failed);
        uint8_t *p = memchr(buffer, '/', n);

        assert_non_null(p);
        p[1] = 0;
        check_refused("nul", buffer, n);
}

TEST(paths_have_a_limit) {
        FileMessage m = { .type = FILE_FAILED, .failure.error = 1 }, found;
        size_t n;

        memset(m.failure.path, 'p', sizeof(m.failure.path) - 1);
        n = encode(&m);
        check_result("longest", file_decode(buffer, n, &found), 0);
        check_string("longest", found.failure.path, m.failure.path);

        /* One byte more, as only an enemy would write it. */
        buffer[HEADER + 4] = (uint8_t) (FILE_PATH_BYTES & 0xff);
        buffer[HEADER + 5] = (uint8_t) (FILE_PATH_BYTES >> 8);
        buffer[n] = 'p';
        check_refused("longer", buffer, n + 1);
}

TEST(data_has_limits) {
        static uint8_t most[FILE_DATA_MAX + 1];
        FileMessage m = { .type = FILE_DATA, .bytes = { .data = most, .size = FILE_DATA_MAX } }, found;
        size_t n = encode(&m);

        check_result("most", file_decode(buffer, n, &found), 0);
        check_uint("most", found.bytes.size, FILE_DATA_MAX);
        m.bytes.size = 0;
        check_result("nothing", file_encode(&m, buffer, sizeof(buffer)), -ENOSPC);
        m.bytes.size = FILE_DATA_MAX + 1;
        check_result("too much", file_encode(&m, buffer, sizeof(buffer)), -ENOSPC);

        memcpy(buffer, (const uint8_t[]) { FILE_DATA, 0, 0, 0, 0, 0, 0, 0 }, 8);
        check_refused("nothing, told", buffer, 8);
        memset(buffer, 0, FILE_DATA_MAX + 9);
        memcpy(buffer, (const uint8_t[]) { FILE_DATA, 0, 0, 0, (FILE_DATA_MAX + 1) & 0xff, (FILE_DATA_MAX + 1) >> 8, 0, 0 }, 8);
        check_refused("too much, told", buffer, FILE_DATA_MAX + 9);
}

TEST(the_largest_messages_fit) {
        FileMessage m = { .type = FILE_ENTRY };

        memset(m.entry.path, 'p', sizeof(m.entry.path) - 1);
        memset(m.entry.target, 't', sizeof(m.entry.target) - 1);
        check_true("entry", encode(&m) <= FILE_MESSAGE_MAX);
}

TEST(labels) {
        static const struct {
                const char *bytes;
                size_t size;
                bool right;
        } rows[] = {
                { "",                0,  true  },
                { "a\0b\0",          4,  true  },
                { "a\0\0b\0c\0",     7,  true  },
                { "a\0b",            3,  false },
                { "a\0",             2,  false },
                { "\0b\0",           3,  false },
                { "a\0b\0c\0",       6,  false },
        };
        static uint8_t many[FILE_LABELS_MAX + 1];
        const char *key, *value;
        size_t offset = 0;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                check_int(rows[i].bytes, file_labels_check((const uint8_t *) rows[i].bytes, rows[i].size), rows[i].right);
        memset(many, 'x', sizeof(many));
        many[1] = many[sizeof(many) - 1] = 0;
        check_true("too many", !file_labels_check(many, sizeof(many)));
        check_true("first", file_labels_next((const uint8_t *) "a\0b\0c\0d\0", 8, &offset, &key, &value));
        check_true("second", file_labels_next((const uint8_t *) "a\0b\0c\0d\0", 8, &offset, &key, &value));
        check_string("key", key, "c");
        check_string("value", value, "d");
        check_true("last", !file_labels_next((const uint8_t *) "a\0b\0c\0d\0", 8, &offset, &key, &value));
}

TEST(only_entries_have_details) {
        FileMessage m = detailed;
        size_t n;

        m.type = FILE_PUT;
        n = encode(&m);
        check_refused("put", buffer, n);
        n = encode(&detailed);
        buffer[n - 1] = 'x'; /* the last label never ends */
        check_refused("labels", buffer, n);
}
