/* The bytes of every message, held by the texts in test/golden/wire.
 *
 * Each message has every field set, each to a value of its own. Its text has the bytes in hex, and below them, for each byte, the
 * values that the decoder takes in its place ("~": takes, and would write in another way): so every bound of every field is held.
 *
 *      COVE_GOLDEN_WRITE=1 test-golden-wire      writes the texts anew: only when what is said on the wire is meant to change */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/file.h"
#include "wire/guest.h"
#include "wire/message.h"
#include "wire/spawn.h"
#include "wire/sudo.h"

#define BYTES_MAX 65536
#define ID        "abcdefghij0123456789z"
#define LAYER     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define STRINGS   "/work\0printf\0%s\0A=1\0B=2"
#define LABELS    "color\0blue\0size\0"

typedef union Any {
        SpawnMessage spawn;
        GuestMessage guest;
        FileMessage file;
        SudoMessage sudo;
        WireMessage wire;
} Any;

typedef struct Codec {
        const char *name;
        ssize_t (*encode)(const Any *m, uint8_t *buffer, size_t size);
        int (*decode)(const uint8_t *data, size_t size, Any *ret);
        void (*same)(const char *name, const Any *a, const Any *b);
        int too_small; /* what encode says to a buffer that is */
} Codec;

typedef struct Golden {
        const char *name;
        Any message;
        size_t optional; /* bytes at the end that an older sender leaves out */
} Golden;

#define SAME_NUMBER(member)    check_uint(name, (uintmax_t) (a->member), (uintmax_t) (b->member))
#define SAME_TEXT(member)      check_string(name, a->member, b->member)
#define SAME_BYTES(data, size)                                                                     \
        do {                                                                                       \
                SAME_NUMBER(size);                                                                 \
                check_true(name, a->size == 0 || memcmp(a->data, b->data, (size_t) a->size) == 0); \
        } while (0)

/* spawn.h */

static void create_same(const char *name, const SpawnCreate *a, const SpawnCreate *b) {
        SAME_TEXT(id);
        SAME_TEXT(template_name);
        SAME_TEXT(layer);
        SAME_NUMBER(zygote);
        SAME_NUMBER(kept);
        SAME_TEXT(hostname);
        SAME_TEXT(workdir);
        SAME_NUMBER(uid);
        SAME_NUMBER(gid);
        SAME_NUMBER(sudo);
        SAME_NUMBER(memory_bytes);
        SAME_NUMBER(disk_bytes);
        SAME_NUMBER(cpu_milli);
        SAME_NUMBER(pids);
        SAME_NUMBER(allow_missing);
        SAME_NUMBER(network);
        SAME_NUMBER(address);
        SAME_NUMBER(n_volumes);
        for (size_t i = 0; i < a->n_volumes; i++) {
                SAME_TEXT(volumes[i].name);
                SAME_TEXT(volumes[i].target);
                SAME_NUMBER(volumes[i].writable);
        }
        SAME_NUMBER(rules.flags);
        SAME_NUMBER(rules.file_size_max);
        SAME_BYTES(rules.paths, rules.paths_size);
}

static void zygote_same(const char *name, const SpawnZygote *a, const SpawnZygote *b) {
        SAME_TEXT(id);
        SAME_TEXT(template_name);
        SAME_TEXT(language);
        SAME_NUMBER(gid);
        SAME_NUMBER(nofile);
        SAME_NUMBER(nproc);
        SAME_NUMBER(file_bytes);
        SAME_NUMBER(no_processes);
}

static void tree_ref_same(const char *name, const TreeRef *a, const TreeRef *b) {
        SAME_NUMBER(kind);
        SAME_NUMBER(writable);
        SAME_TEXT(name);
}

static void tree_same(const char *name, const TreeRequest *a, const TreeRequest *b) {
        SAME_NUMBER(operation);
        SAME_NUMBER(bytes);
        SAME_NUMBER(cancels);
        SAME_NUMBER(n_refs);
        for (size_t i = 0; i < a->n_refs; i++)
                tree_ref_same(name, a->refs + i, b->refs + i);
        SAME_BYTES(arguments, arguments_size);
}

static void spawn_answer_same(const char *name, const SpawnMessage *a, const SpawnMessage *b) {
        switch (a->type) {
        case SPAWN_HELLO:
                SAME_NUMBER(hello.privileged);
                SAME_NUMBER(hello.cgroup_version);
                SAME_NUMBER(hello.depot);
                SAME_TEXT(hello.depot_reason);
                break;
        case SPAWN_CREATED:
                SAME_NUMBER(created.pid);
                SAME_NUMBER(created.id_base);
                SAME_NUMBER(created.guards_missing);
                SAME_NUMBER(created.disk_backing);
                break;
        case SPAWN_DONE:
                SAME_NUMBER(done.status);
                SAME_NUMBER(done.bytes);
                break;
        case SPAWN_FAILED:
                SAME_NUMBER(failure.error);
                SAME_TEXT(failure.text);
                break;
        case SPAWN_TREE_ITEM:
                tree_ref_same(name, &a->tree_item.ref, &b->tree_item.ref);
                SAME_NUMBER(tree_item.bytes);
                break;
        case SPAWN_FORKED: SAME_NUMBER(forked.pid); break;
        case SPAWN_ROOM:
                SAME_NUMBER(room.bytes);
                SAME_NUMBER(room.used_bytes);
                SAME_NUMBER(room.most_bytes);
                break;
        default: break;
        }
}

static void spawn_same(const char *name, const Any *x, const Any *y) {
        const SpawnMessage *a = &x->spawn, *b = &y->spawn;

        SAME_NUMBER(type);
        SAME_NUMBER(serial);
        switch (a->type) {
        case SPAWN_CREATE: create_same(name, &a->create, &b->create); break;
        case SPAWN_ZYGOTE: zygote_same(name, &a->zygote, &b->zygote); break;
        case SPAWN_TREE: tree_same(name, &a->tree, &b->tree); break;
        case SPAWN_DESTROY:
        case SPAWN_FREEZE:
        case SPAWN_THAW:
        case SPAWN_RECLAIM:
        case SPAWN_ITEM: SAME_TEXT(id); break;
        default: spawn_answer_same(name, a, b);
        }
}

/* guest.h */

static void exec_same(const char *name, const GuestExec *a, const GuestExec *b) {
        SAME_NUMBER(exec);
        SAME_NUMBER(flags);
        SAME_NUMBER(uid);
        SAME_NUMBER(gid);
        SAME_NUMBER(columns);
        SAME_NUMBER(rows);
        SAME_NUMBER(timeout_usec);
        SAME_NUMBER(output_max);
        SAME_NUMBER(nofile);
        SAME_NUMBER(n_args);
        SAME_NUMBER(n_env);
        SAME_BYTES(strings, strings_size);
}

static void guest_file_same(const char *name, const FileRequest *a, const FileRequest *b) {
        SAME_NUMBER(operation);
        SAME_NUMBER(flags);
        SAME_NUMBER(uid);
        SAME_NUMBER(gid);
        SAME_NUMBER(mode);
        SAME_NUMBER(owner);
        SAME_NUMBER(group);
        SAME_NUMBER(depth);
        SAME_NUMBER(limit);
        SAME_TEXT(path);
        SAME_TEXT(target);
        SAME_BYTES(labels, labels_size);
}

static void exited_same(const char *name, const GuestExited *a, const GuestExited *b) {
        SAME_NUMBER(exec);
        SAME_NUMBER(wait_status);
        SAME_NUMBER(timed_out);
        SAME_NUMBER(disk_full);
        SAME_NUMBER(out_truncated);
        SAME_NUMBER(err_truncated);
        SAME_NUMBER(out_bytes);
        SAME_NUMBER(err_bytes);
        SAME_NUMBER(wall_usec);
        SAME_NUMBER(user_usec);
        SAME_NUMBER(system_usec);
        SAME_NUMBER(max_rss_bytes);
}

static void socket_same(const char *name, const GuestSocket *a, const GuestSocket *b) {
        SAME_NUMBER(token);
        SAME_NUMBER(kind);
        check_true(name, memcmp(a->local, b->local, sizeof(a->local)) == 0);
        check_true(name, memcmp(a->remote, b->remote, sizeof(a->remote)) == 0);
        SAME_NUMBER(local_port);
        SAME_NUMBER(remote_port);
}

static void guest_request_same(const char *name, const GuestMessage *a, const GuestMessage *b) {
        switch (a->type) {
        case GUEST_EXEC: exec_same(name, &a->exec, &b->exec); break;
        case GUEST_SIGNAL:
                SAME_NUMBER(signal.exec);
                SAME_NUMBER(signal.signal);
                break;
        case GUEST_RESIZE:
                SAME_NUMBER(resize.exec);
                SAME_NUMBER(resize.columns);
                SAME_NUMBER(resize.rows);
                break;
        case GUEST_STOP: SAME_NUMBER(grace_usec); break;
        case GUEST_FILE: guest_file_same(name, &a->file, &b->file); break;
        case GUEST_SOCKET: socket_same(name, &a->socket, &b->socket); break;
        case GUEST_KEEP:
        case GUEST_KEPT:
                SAME_NUMBER(kept.number);
                SAME_NUMBER(kept.pid);
                SAME_TEXT(kept.text);
                break;
        case GUEST_KILL:
                SAME_NUMBER(kill.pid);
                SAME_NUMBER(kill.signal);
                break;
        case GUEST_STDIN_OPEN:
        case GUEST_STDIN_CLOSE:
        case GUEST_FORGET:
        case GUEST_CHANNEL_OPEN:
        case GUEST_KEPT_ASK: SAME_NUMBER(exec_id); break;
        default: break;
        }
}

static void guest_same(const char *name, const Any *x, const Any *y) {
        const GuestMessage *a = &x->guest, *b = &y->guest;

        SAME_NUMBER(type);
        switch (a->type) {
        case GUEST_READY:
        case GUEST_END:
                SAME_NUMBER(ready.guards_missing);
                SAME_NUMBER(ready.segment);
                break;
        case GUEST_STARTED:
                SAME_NUMBER(started.exec);
                SAME_NUMBER(started.pid);
                SAME_NUMBER(started.flags);
                break;
        case GUEST_EXEC_FAILED:
                SAME_NUMBER(exec_failed.exec);
                SAME_NUMBER(exec_failed.error);
                SAME_TEXT(exec_failed.step);
                SAME_TEXT(exec_failed.detail);
                break;
        case GUEST_EXITED: exited_same(name, &a->exited, &b->exited); break;
        case GUEST_STDIN:
        case GUEST_CHANNEL:
                SAME_NUMBER(stdin_.exec);
                SAME_NUMBER(stdin_.error);
                break;
        case GUEST_SOCKETS: SAME_NUMBER(shape); break;
        case GUEST_SOCKET_MADE:
                SAME_NUMBER(socket_made.token);
                SAME_NUMBER(socket_made.error);
                break;
        default: guest_request_same(name, a, b);
        }
}

/* file.h */

static void entry_same(const char *name, const FileEntry *a, const FileEntry *b) {
        SAME_TEXT(path);
        SAME_TEXT(target);
        SAME_NUMBER(hard);
        SAME_NUMBER(mode);
        SAME_NUMBER(uid);
        SAME_NUMBER(gid);
        SAME_NUMBER(size);
        SAME_NUMBER(inode);
        SAME_NUMBER(device);
        SAME_NUMBER(mtime_nsec);
        SAME_NUMBER(ctime_nsec);
        SAME_NUMBER(detailed);
        SAME_NUMBER(target_mode);
        SAME_TEXT(owner);
        SAME_TEXT(group);
        SAME_BYTES(labels, labels_size);
}

static void file_same(const char *name, const Any *x, const Any *y) {
        const FileMessage *a = &x->file, *b = &y->file;

        SAME_NUMBER(type);
        switch (a->type) {
        case FILE_ENTRY:
        case FILE_PUT: entry_same(name, &a->entry, &b->entry); break;
        case FILE_END: SAME_NUMBER(count); break;
        case FILE_FAILED:
                SAME_NUMBER(failure.error);
                SAME_TEXT(failure.path);
                break;
        case FILE_EVENT:
                SAME_NUMBER(event.kind);
                SAME_NUMBER(event.directory);
                SAME_TEXT(event.path);
                SAME_TEXT(event.target);
                break;
        case FILE_DATA: SAME_BYTES(bytes.data, bytes.size); break;
        default: break;
        }
}

/* sudo.h */

static void sudo_same(const char *name, const Any *x, const Any *y) {
        const SudoMessage *a = &x->sudo, *b = &y->sudo;

        SAME_NUMBER(type);
        switch (a->type) {
        case SUDO_RUN:
                SAME_NUMBER(run.flags);
                SAME_NUMBER(run.uid);
                SAME_NUMBER(run.gid);
                SAME_NUMBER(run.n_args);
                SAME_NUMBER(run.n_env);
                SAME_BYTES(run.strings, run.strings_size);
                break;
        case SUDO_SIGNAL: SAME_NUMBER(signal); break;
        case SUDO_STARTED: SAME_NUMBER(pid); break;
        case SUDO_EXITED: SAME_NUMBER(wait_status); break;
        case SUDO_FAILED:
                SAME_NUMBER(failed.error);
                SAME_TEXT(failed.step);
                SAME_TEXT(failed.detail);
                break;
        default: break;
        }
}

/* message.h */

static void wire_same(const char *name, const Any *x, const Any *y) {
        const WireMessage *a = &x->wire, *b = &y->wire;

        SAME_NUMBER(type);
        switch (a->type) {
        case WIRE_OUTSIDE: SAME_NUMBER(outside.guards_missing); break;
        case WIRE_STARTED: SAME_NUMBER(started.guards_missing); break;
        case WIRE_FAILED:
                SAME_NUMBER(failed.error);
                SAME_TEXT(failed.step);
                SAME_TEXT(failed.detail);
                break;
        case WIRE_EXITED:
                SAME_NUMBER(exited.wait_status);
                SAME_NUMBER(exited.disk_full);
                SAME_NUMBER(exited.disk_bytes);
                SAME_NUMBER(exited.wall_usec);
                break;
        case WIRE_GO:
        default: break;
        }
}

#define CODEC(room, small)                                                                    \
        static ssize_t room##_any_encode(const Any *m, uint8_t *buffer, size_t size) {        \
                return room##_encode(&m->room, buffer, size);                                 \
        }                                                                                     \
        static int room##_any_decode(const uint8_t *data, size_t size, Any *ret) {            \
                return room##_decode(data, size, &ret->room);                                 \
        }                                                                                     \
        static const Codec room##_codec = { #room, room##_any_encode, room##_any_decode, room##_same, small }

CODEC(spawn, -ENOSPC);
CODEC(guest, -ENOSPC);
CODEC(file, -ENOSPC);
CODEC(sudo, -ENOSPC);
CODEC(wire, -ENOSPC);

/* The text of a message */

static void put_bytes(FILE *f, const uint8_t *data, size_t size) {
        for (size_t i = 0; i < size; i++)
                (void) fprintf(f, "%02x%s", data[i], i % 32 == 31 || i + 1 == size ? "\n" : "");
}

/* Every value of one byte: '-' refused, '+' taken, '~' taken, and written in another way. */
static void byte_try(const Codec *codec, uint8_t *data, size_t size, size_t at, char ret[static 257]) {
        static uint8_t again[BYTES_MAX];
        static Any m;
        uint8_t kept = data[at];

        for (unsigned value = 0; value < 256; value++) {
                ssize_t n;
                int r;

                data[at] = (uint8_t) value;
                r = codec->decode(data, size, &m);
                if (r < 0) {
                        check_result(codec->name, r, -EBADMSG);
                        ret[value] = '-';
                        continue;
                }
                n = codec->encode(&m, again, sizeof(again));
                ret[value] = n == (ssize_t) size && memcmp(again, data, size) == 0 ? '+' : '~';
        }
        ret[256] = '\0';
        data[at] = kept;
}

static void put_values(FILE *f, const char values[static 257]) {
        for (unsigned first = 0, last; first < 256; first = last + 1) {
                for (last = first; last < 255 && values[last + 1] == values[first];)
                        last++;
                if (values[first] != '-')
                        (void) fprintf(f, last > first ? " %s%02x-%02x" : " %s%02x", values[first] == '~' ? "~" : "", first, last);
        }
        (void) fputc('\n', f);
}

static char *message_text(const Codec *codec, uint8_t *data, size_t size) {
        char values[2][257] = { 0 };
        char *text = NULL;
        size_t length, first = 0;
        FILE *f = open_memstream(&text, &length);

        check_true("memory", f != NULL);
        put_bytes(f, data, size);
        for (size_t at = 0; at <= size; at++) {
                if (at < size)
                        byte_try(codec, data, size, at, values[at % 2]);
                if (at > 0 && (at == size || strcmp(values[0], values[1]) != 0)) {
                        (void) fprintf(f, "%zu-%zu:", first, at - 1);
                        put_values(f, values[(at - 1) % 2]);
                        first = at;
                }
        }
        check_int("memory", fclose(f), 0);
        return text;
}

static char *file_text(const char *path) {
        FILE *f = fopen(path, "re");
        char *text = calloc(1, BYTES_MAX * 4);

        check_true(path, f != NULL);
        check_true("memory", text != NULL);
        check_true(path, fread(text, 1, BYTES_MAX * 4 - 1, f) > 0);
        (void) fclose(f);
        return text;
}

/* The hex lines of a text, which are those without a colon. */
static size_t text_bytes(const char *text, uint8_t *ret, size_t max) {
        size_t n = 0;

        for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
                if (memchr(line, ':', strcspn(line, "\n")))
                        break;
                for (const char *p = line; *p != '\n'; p += 2) {
                        unsigned value;

                        check_true("room", n < max);
                        check_int("hex", sscanf(p, "%2x", &value), 1);
                        ret[n++] = (uint8_t) value;
                }
        }
        return n;
}

/* Bytes at the very end of their memory, so that a sanitizer sees who reads on. */
static int decode_exactly(const Codec *codec, const uint8_t *data, size_t size, Any *ret) {
        _cleanup_free_ uint8_t *copy = malloc(size + (size == 0));

        check_true("memory", copy != NULL);
        memcpy(copy, data, size);
        return codec->decode(copy, size, ret);
}

static void bounds_check(const Codec *codec, const Golden *golden, const uint8_t *data, size_t size) {
        static uint8_t other[BYTES_MAX];
        static Any m;

        for (size_t n = 0; n < size; n++) {
                check_result(golden->name, decode_exactly(codec, data, n, &m), golden->optional > 0 && n + golden->optional == size ? 0 : -EBADMSG);
                check_result(golden->name, codec->encode(&golden->message, other, n), codec->too_small);
        }
        memcpy(other, data, size);
        for (unsigned extra = 0; extra < 256; extra += 255) {
                other[size] = (uint8_t) extra;
                check_result(golden->name, decode_exactly(codec, other, size + 1, &m), -EBADMSG);
        }
}

static void golden_check(const Codec *codec, const Golden *golden) {
        static uint8_t data[BYTES_MAX], held[BYTES_MAX], again[BYTES_MAX];
        _cleanup_free_ char *path = NULL, *found = NULL, *wanted = NULL;
        static Any m;
        size_t n_held;
        ssize_t size;

        check_true("memory", asprintf(&path, "%s/test/golden/wire/%s-%s.hex", SOURCE_ROOT, codec->name, golden->name) > 0);
        size = codec->encode(&golden->message, data, sizeof(data));
        check_true(golden->name, size > 0 && (size_t) size < sizeof(data));
        found = message_text(codec, data, (size_t) size);
        if (getenv("COVE_GOLDEN_WRITE"))
                unit_write_text(path, found);
        wanted = file_text(path);
        check_string(path, found, wanted);

        n_held = text_bytes(wanted, held, sizeof(held));
        check_uint(golden->name, n_held, (size_t) size);
        check_result(golden->name, codec->decode(held, n_held, &m), 0);
        codec->same(golden->name, &m, &golden->message);
        check_int(golden->name, codec->encode(&m, again, sizeof(again)), size);
        check_true(golden->name, memcmp(again, held, n_held) == 0);
        bounds_check(codec, golden, held, n_held);
}

#define SPAWN(member_type, number, ...) { .spawn = { .type = (member_type), .serial = (number), __VA_ARGS__ } }
#define GUEST(member_type, ...)         { .guest = { .type = (member_type), __VA_ARGS__ } }
#define BYTES(text)                     (const uint8_t *) (text), sizeof(text)

static const Golden spawn_goldens[] = {
        { "create", SPAWN(SPAWN_CREATE, 0x01020304, .create = {
                .id = ID, .template_name = "python", .layer = LAYER, .zygote = true, .kept = true, .hostname = "box", .workdir = "/workspace",
                .uid = 1000, .gid = 1001, .sudo = true, .memory_bytes = UINT64_C(0x1112131415161718), .disk_bytes = UINT64_C(0x2122232425262728),
                .cpu_milli = 0x31323334, .pids = 0x41424344, .allow_missing = UINT64_C(0x5152535455565758), .network = SPAWN_NETWORK_LINKED,
                .address = 0x0ad50003, .n_volumes = 2,
                .volumes = { { "data", "/data", true }, { "cache", "/var/cache", false } },
                .rules = { RULES_SEALED | RULES_NO_PROCESSES, UINT64_C(0x6162636465666768), 30, "\1/etc\0\2/opt\0\3/app\0\4/root/.ssh" } }) },
        { "create-bare", SPAWN(SPAWN_CREATE, 0) },
        { "destroy", SPAWN(SPAWN_DESTROY, 7, .id = ID) },
        { "freeze", SPAWN(SPAWN_FREEZE, 8, .id = ID) },
        { "thaw", SPAWN(SPAWN_THAW, UINT32_MAX, .id = ID) },
        { "reclaim", SPAWN(SPAWN_RECLAIM, 9, .id = ID) },
        { "list", SPAWN(SPAWN_LIST, 10) },
        { "ping", SPAWN(SPAWN_PING, 14) },
        { "tree", SPAWN(SPAWN_TREE, 11, .tree = {
                .operation = TREE_RUN, .bytes = UINT64_C(0x7172737475767778), .cancels = 0x01020305, .n_refs = 3,
                .refs = { { TREE_SCRATCH, true, "scratch1" }, { TREE_LAYER, false, LAYER }, { TREE_TEMPLATE, false, "host" } },
                .arguments_size = 15, .arguments = "unpack\0--owner" }) },
        { "tree-bare", SPAWN(SPAWN_TREE, 12, .tree = { .operation = TREE_LIST }) },
        { "zygote", SPAWN(SPAWN_ZYGOTE, 13, .zygote = { ID, "base", "python", 1002, 1024, 512, UINT64_C(1) << 40, true }) },
        { "hello", SPAWN(SPAWN_HELLO, 0, .hello = { true, 2, 1, "there is no btrfs" }) },
        { "created", SPAWN(SPAWN_CREATED, 14, .created = { 4711, 0x10000, UINT64_C(0x8182838485868788), 2 }) },
        { "done", SPAWN(SPAWN_DONE, 15, .done = { 0x0f00, UINT64_C(0x9192939495969798) }) },
        { "failed", SPAWN(SPAWN_FAILED, 16, .failure = { EBUSY, "cgroup: there is one" }) },
        { "item", SPAWN(SPAWN_ITEM, 17, .id = ID) },
        { "end", SPAWN(SPAWN_END, 18) },
        { "tree-item", SPAWN(SPAWN_TREE_ITEM, 19, .tree_item = { { TREE_VOLUME, true, "data" }, UINT64_C(0xa1a2a3a4a5a6a7a8) }) },
        { "forked", SPAWN(SPAWN_FORKED, 20, .forked = { 5 }) },
        { "room", SPAWN(SPAWN_ROOM, 21, .room = { UINT64_C(0xb1b2b3b4b5b6b7b8), UINT64_C(0xc1c2c3c4c5c6c7c8), UINT64_C(0xd1d2d3d4d5d6d7d8) }) },
};

static const Golden guest_goldens[] = {
        { "exec", GUEST(GUEST_EXEC, .exec = {
                UINT64_C(0x0102030405060708), GUEST_EXEC_PTY | GUEST_EXEC_STDIN | GUEST_EXEC_STAY, 1000, 1001, 80, 24, UINT64_C(0x1112131415161718),
                UINT64_C(0x2122232425262728), UINT64_C(0x3132333435363738), 2, 3, BYTES(STRINGS) }) },
        { "exec-blob", GUEST(GUEST_EXEC, .exec = { .exec = 2, .flags = GUEST_EXEC_BLOB | GUEST_EXEC_CHANNEL, .n_args = 4 }) },
        { "signal", GUEST(GUEST_SIGNAL, .signal = { 3, 15 }) },
        { "resize", GUEST(GUEST_RESIZE, .resize = { 4, 132, 43 }) },
        { "stdin-open", GUEST(GUEST_STDIN_OPEN, .exec_id = 5) },
        { "stdin-close", GUEST(GUEST_STDIN_CLOSE, .exec_id = 6) },
        { "forget", GUEST(GUEST_FORGET, .exec_id = 7) },
        { "list", GUEST(GUEST_LIST) },
        { "stop", GUEST(GUEST_STOP, .grace_usec = UINT64_C(0x4142434445464748)) },
        { "file", GUEST(GUEST_FILE, .file = {
                FILE_WRITE, FILE_SET_LABELS | FILE_PARENTS, 1000, 1001, 0644, 1002, 1003, 8, UINT64_C(0x5152535455565758), "/home/user/a", "/tmp/b",
                BYTES(LABELS) }) },
        { "file-bare", GUEST(GUEST_FILE, .file = {
                .operation = FILE_STAT, .mode = FILE_MODE_NONE, .owner = FILE_ID_NONE, .group = FILE_ID_NONE, .path = "/" }) },
        { "network", GUEST(GUEST_NETWORK) },
        { "socket", GUEST(GUEST_SOCKET, .socket = {
                8, GUEST_SOCKET_UDP, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
                { 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 }, 53, 40001 }) },
        { "channel-open", GUEST(GUEST_CHANNEL_OPEN, .exec_id = 9) },
        { "keep", GUEST(GUEST_KEEP, .kept = { 10, 44, "python of context 3" }) },
        { "kept-ask", GUEST(GUEST_KEPT_ASK, .exec_id = 11) },
        { "kill", GUEST(GUEST_KILL, .kill = { 45, 9 }) },
        { "exec-segment", GUEST(GUEST_EXEC, .exec = { .exec = 27, .flags = GUEST_EXEC_SEGMENT | GUEST_EXEC_BLOB, .n_args = 1 }) },
        { "ready", GUEST(GUEST_READY, .ready = { UINT64_C(0x6162636465666768) }) },
        { "ready-segment", GUEST(GUEST_READY, .ready = { UINT64_C(0x6162636465666768), GUEST_SEGMENT_NONE }), 1 },
        { "started", GUEST(GUEST_STARTED, .started = { 12, 46, GUEST_EXEC_PTY | GUEST_EXEC_STDIN }) },
        { "exec-failed", GUEST(GUEST_EXEC_FAILED, .exec_failed = { 13, ENOENT, "exec", "/bin/none" }) },
        { "exited", GUEST(GUEST_EXITED, .exited = {
                .exec = 14, .wait_status = 0x0300, .timed_out = 1, .disk_full = 0, .out_truncated = 1, .err_truncated = 0, .out_bytes = 15, .err_bytes = 16,
                .wall_usec = 17, .user_usec = 18, .system_usec = 19, .max_rss_bytes = 20 }) },
        { "exited-other", GUEST(GUEST_EXITED, .exited = {
                .exec = 21, .wait_status = 9, .timed_out = 0, .disk_full = 1, .out_truncated = 0, .err_truncated = 1, .out_bytes = INT64_MAX, .err_bytes = INT64_MAX,
                .wall_usec = INT64_MAX, .user_usec = INT64_MAX, .system_usec = INT64_MAX, .max_rss_bytes = INT64_MAX }) },
        { "stdin", GUEST(GUEST_STDIN, .stdin_ = { 22, ESRCH }) },
        { "end", GUEST(GUEST_END) },
        { "end-segment", GUEST(GUEST_END, .ready = { .segment = GUEST_SEGMENT_KEPT }), 1 },
        { "stopped", GUEST(GUEST_STOPPED) },
        { "sockets", GUEST(GUEST_SOCKETS, .shape = SPAWN_NETWORK_LINKED) },
        { "socket-made", GUEST(GUEST_SOCKET_MADE, .socket_made = { 23, ECONNREFUSED }) },
        { "channel", GUEST(GUEST_CHANNEL, .stdin_ = { 24, EBADF }) },
        { "kept", GUEST(GUEST_KEPT, .kept = { 25, 47, "python of context 4" }) },
        { "kept-none", GUEST(GUEST_KEPT, .kept = { .number = 26 }) },
};

static const Golden file_goldens[] = {
        { "entry", { .file = { .type = FILE_ENTRY, .entry = {
                "d/link", "/etc/target", 1, 0120777, 1000, 1001, 11, 12, 13, INT64_C(0x1112131415161718), -2, true, 0100640, "user", "wheel", BYTES(LABELS) } } } },
        { "entry-plain", { .file = { .type = FILE_ENTRY, .entry = {
                .path = "f", .mode = 0100644, .uid = 1, .gid = 2, .size = 3, .inode = 4, .device = 5, .mtime_nsec = 6, .ctime_nsec = 7 } } } },
        { "end", { .file = { .type = FILE_END, .count = UINT64_C(0x2122232425262728) } } },
        { "failed", { .file = { .type = FILE_FAILED, .failure = { EACCES, "/root/f" } } } },
        { "event", { .file = { .type = FILE_EVENT, .event = { FILE_RENAMED, 1, "old", "new" } } } },
        { "commit", { .file = { .type = FILE_COMMIT } } },
        { "put", { .file = { .type = FILE_PUT, .entry = {
                .path = "copy", .target = "original", .hard = 1, .mode = 0100755, .uid = 8, .gid = 9, .size = 10, .inode = 11, .device = 12, .mtime_nsec = 13,
                .ctime_nsec = 14 } } } },
        { "data", { .file = { .type = FILE_DATA, .bytes = { BYTES("some\0data") } } } },
};

static const Golden sudo_goldens[] = {
        { "run", { .sudo = { .type = SUDO_RUN, .run = { SUDO_TERMINAL | SUDO_STAY, 1000, 1001, 2, 3, BYTES(STRINGS) } } } },
        { "run-blob", { .sudo = { .type = SUDO_RUN, .run = { .flags = SUDO_BLOB, .n_args = 4, .n_env = 5 } } } },
        { "signal", { .sudo = { .type = SUDO_SIGNAL, .signal = 15 } } },
        { "started", { .sudo = { .type = SUDO_STARTED, .pid = 6 } } },
        { "failed", { .sudo = { .type = SUDO_FAILED, .failed = { EPERM, "identity", "not allowed" } } } },
        { "exited", { .sudo = { .type = SUDO_EXITED, .wait_status = 0x0700 } } },
};

static const Golden wire_goldens[] = {
        { "go", { .wire = { .type = WIRE_GO } } },
        { "outside", { .wire = { .type = WIRE_OUTSIDE, .outside = { UINT64_C(0x0102030405060708) } } } },
        { "failed", { .wire = { .type = WIRE_FAILED, .failed = { ENOSYS, "seccomp", "the filter" } } } },
        { "started", { .wire = { .type = WIRE_STARTED, .started = { UINT64_C(0x1112131415161718) } } } },
        { "exited", { .wire = { .type = WIRE_EXITED, .exited = { 0x0800, 1, UINT64_C(0x2122232425262728), UINT64_C(0x3132333435363738) } } } },
};

#define GOLDEN_TEST(room)                                                          \
        TEST(room##_bytes) {                                                       \
                for (size_t i = 0; i < ELEMENTSOF(room##_goldens); i++)            \
                        golden_check(&room##_codec, room##_goldens + i);           \
        }

GOLDEN_TEST(spawn)
GOLDEN_TEST(guest)
GOLDEN_TEST(file)
GOLDEN_TEST(sudo)
GOLDEN_TEST(wire)

/* No type is without its golden text. */
TEST(every_type_is_held) {
        bool held[5][256] = { 0 };

        for (size_t i = 0; i < ELEMENTSOF(spawn_goldens); i++)
                held[0][spawn_goldens[i].message.spawn.type] = true;
        for (size_t i = 0; i < ELEMENTSOF(guest_goldens); i++)
                held[1][guest_goldens[i].message.guest.type] = true;
        for (size_t i = 0; i < ELEMENTSOF(file_goldens); i++)
                held[2][file_goldens[i].message.file.type] = true;
        for (size_t i = 0; i < ELEMENTSOF(sudo_goldens); i++)
                held[3][sudo_goldens[i].message.sudo.type] = true;
        for (size_t i = 0; i < ELEMENTSOF(wire_goldens); i++)
                held[4][wire_goldens[i].message.wire.type] = true;
        for (int t = SPAWN_CREATE; t < _SPAWN_TYPE_MAX; t++)
                check_true("spawn.h", held[0][t] || (t > SPAWN_ZYGOTE && t < SPAWN_HELLO));
        for (int t = GUEST_EXEC; t < _GUEST_TYPE_MAX; t++)
                check_true("guest.h", held[1][t] || (t > GUEST_KILL && t < GUEST_READY));
        for (int t = FILE_ENTRY; t < _FILE_TYPE_MAX; t++)
                check_true("file.h", held[2][t]);
        for (int t = SUDO_RUN; t < _SUDO_TYPE_MAX; t++)
                check_true("sudo.h", held[3][t] || (t > SUDO_SIGNAL && t < SUDO_STARTED));
        for (int t = WIRE_GO; t < _WIRE_TYPE_MAX; t++)
                check_true("message.h", held[4][t]);
}
