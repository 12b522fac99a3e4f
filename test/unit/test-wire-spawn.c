/* What coved and the spawner say to each other, as bytes. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/spawn.h"

#define HEADER 8
#define ID     "abcdefghij0123456789z"
#define LAYER  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const SpawnMessage create = {
        .type = SPAWN_CREATE,
        .serial = 0x01020304,
        .create = {
                .id = ID,
                .template_name = "host",
                .layer = LAYER,
                .zygote = true,
                .kept = true,
                .hostname = "box",
                .workdir = "/workspace",
                .uid = 1000,
                .gid = 1001,
                .sudo = true,
                .memory_bytes = UINT64_C(512) << 20,
                .disk_bytes = UINT64_C(256) << 20,
                .cpu_milli = 1500,
                .pids = 512,
                .allow_missing = UINT64_C(0x8000000000000001),
                .network = SPAWN_NETWORK_LINKED,
                .address = 0x0ad50003,
                .n_volumes = 2,
                .volumes = {
                        { .name = "data", .target = "/data", .writable = true },
                        { .name = "cache", .target = "/var/cache" },
                },
                .rules = {
                        .flags = RULES_SEALED | RULES_NO_PROCESSES,
                        .file_size_max = UINT64_C(10) << 20,
                        .paths_size = 13,
                        .paths = "\3/app\0\4/root",
                },
        },
};
static const SpawnMessage create_bare = { .type = SPAWN_CREATE };
static const SpawnMessage destroy = { .type = SPAWN_DESTROY, .serial = 7, .id = ID };
static const SpawnMessage freeze = { .type = SPAWN_FREEZE, .serial = 8, .id = ID };
static const SpawnMessage thaw = { .type = SPAWN_THAW, .serial = UINT32_MAX, .id = ID };
static const SpawnMessage reclaim = { .type = SPAWN_RECLAIM, .serial = 18, .id = ID };
static const SpawnMessage zygote = {
        .type = SPAWN_ZYGOTE,
        .serial = 19,
        .zygote = { .id = ID, .template_name = "base", .language = "python", .gid = 1000, .nofile = 1024, .nproc = 512, .file_bytes = 1 << 20, .no_processes = true },
};
static const SpawnMessage forked = { .type = SPAWN_FORKED, .serial = 20, .forked = { .pid = 4 } };
static const SpawnMessage ping = { .type = SPAWN_PING, .serial = 21 };
static const SpawnMessage list = { .type = SPAWN_LIST, .serial = 9 };
static const SpawnMessage hello = { .type = SPAWN_HELLO, .hello = { .privileged = true, .cgroup_version = 2, .depot = 1, .depot_reason = "no btrfs" } };
static const SpawnMessage created = {
        .type = SPAWN_CREATED,
        .serial = 10,
        .created = { .pid = 4711, .id_base = 0x40000000, .guards_missing = 5, .disk_backing = 1 },
};
static const SpawnMessage done = { .type = SPAWN_DONE, .serial = 11, .done = { .status = 0x0100, .bytes = UINT64_C(1) << 40 } };
static const SpawnMessage failed = {
        .type = SPAWN_FAILED,
        .serial = 12,
        .failure = { .error = ENOENT, .text = "no such thing" },
};
static const SpawnMessage item = { .type = SPAWN_ITEM, .serial = 13, .id = ID };
static const SpawnMessage end = { .type = SPAWN_END, .serial = 14 };
static const SpawnMessage tree = {
        .type = SPAWN_TREE,
        .serial = 15,
        .tree = {
                .operation = TREE_RUN,
                .bytes = UINT64_C(0x0102030405060708),
                .cancels = 0x090a0b0c,
                .n_refs = 2,
                .refs = { { .kind = TREE_SCRATCH, .writable = true, .name = ID }, { .kind = TREE_LAYER, .name = LAYER } },
                .arguments_size = 10,
                .arguments = "pack\0none",
        },
};
static const SpawnMessage tree_cancel = { .type = SPAWN_TREE, .serial = 16, .tree = { .operation = TREE_CANCEL, .cancels = 15 } };
static const SpawnMessage tree_item = {
        .type = SPAWN_TREE_ITEM,
        .serial = 17,
        .tree_item = { .ref = { .kind = TREE_SNAPSHOT, .name = ID }, .bytes = 4096 },
};

static const struct {
        const char *name;
        const SpawnMessage *message;
} samples[] = {
        { "create",      &create      },
        { "create bare", &create_bare },
        { "destroy",     &destroy     },
        { "freeze",      &freeze      },
        { "thaw",        &thaw        },
        { "reclaim",     &reclaim     },
        { "zygote",      &zygote      },
        { "forked",      &forked      },
        { "list",        &list        },
        { "ping",        &ping        },
        { "hello",       &hello       },
        { "created",     &created     },
        { "done",        &done        },
        { "failed",      &failed      },
        { "item",        &item        },
        { "end",         &end         },
        { "tree",        &tree        },
        { "tree cancel", &tree_cancel },
        { "tree item",   &tree_item   },
};

static size_t encode(const SpawnMessage *m, uint8_t buffer[static SPAWN_MESSAGE_MAX]) {
        ssize_t n = spawn_encode(m, buffer, SPAWN_MESSAGE_MAX);

        check_true("spawn_encode", n > 0);
        return (size_t) n;
}

static void check_refused(const char *what, const uint8_t *data, size_t size) {
        SpawnMessage m;

        memset(&m, 0x5a, sizeof(m));
        check_result(what, spawn_decode(data, size, &m), -EBADMSG);
        for (size_t i = 0; i < sizeof(m); i++)
                check_uint("output untouched", ((const uint8_t *) &m)[i], 0x5a);
}

TEST(round_trip) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[SPAWN_MESSAGE_MAX], again[SPAWN_MESSAGE_MAX];
                size_t n = encode(samples[i].message, buffer);
                SpawnMessage m;

                check_result(samples[i].name, spawn_decode(buffer, n, &m), 0);
                check_int(samples[i].name, m.type, samples[i].message->type);
                check_uint(samples[i].name, m.serial, samples[i].message->serial);
                check_uint(samples[i].name, encode(&m, again), n);
                check_true(samples[i].name, memcmp(buffer, again, n) == 0);
        }
}

TEST(create_keeps_its_fields) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        SpawnMessage m;

        check_result("decode", spawn_decode(buffer, encode(&create, buffer), &m), 0);
        check_string("id", m.create.id, create.create.id);
        check_string("template", m.create.template_name, create.create.template_name);
        check_string("layer", m.create.layer, LAYER);
        check_true("zygote", m.create.zygote);
        check_true("kept", m.create.kept);
        check_uint("volumes", m.create.n_volumes, 2);
        check_string("first volume", m.create.volumes[0].name, "data");
        check_string("its place", m.create.volumes[0].target, "/data");
        check_true("writable", m.create.volumes[0].writable);
        check_string("second volume", m.create.volumes[1].name, "cache");
        check_string("its place", m.create.volumes[1].target, "/var/cache");
        check_true("read-only", !m.create.volumes[1].writable);
        check_string("host name", m.create.hostname, create.create.hostname);
        check_string("working directory", m.create.workdir, create.create.workdir);
        check_uint("uid", m.create.uid, create.create.uid);
        check_uint("gid", m.create.gid, create.create.gid);
        check_true("sudo", m.create.sudo);
        check_uint("memory", m.create.memory_bytes, create.create.memory_bytes);
        check_uint("disk", m.create.disk_bytes, create.create.disk_bytes);
        check_uint("cpu", m.create.cpu_milli, create.create.cpu_milli);
        check_uint("pids", m.create.pids, create.create.pids);
        check_uint("guards", m.create.allow_missing, create.create.allow_missing);
        check_uint("network", m.create.network, SPAWN_NETWORK_LINKED);
        check_uint("address", m.create.address, 0x0ad50003);
        check_true("rules", rules_equal(&m.create.rules, &create.create.rules));
}

TEST(rules_paths) {
        static const char *const expected[] = { "/etc", "/app", "/root" };
        static const RulesPathKind kinds[] = { RULES_READ_ONLY_IF_THERE, RULES_WRITABLE, RULES_DENIED };
        Rules r = { 0 }, other;
        RulesPathKind kind;
        const char *path = NULL;
        char longest[RULES_PATHS_BYTES];

        check_true("none", !rules_next_path(&r, NULL, &kind));
        for (size_t i = 0; i < ELEMENTSOF(expected); i++)
                check_result(expected[i], rules_add_path(&r, kinds[i], expected[i]), 0);
        for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
                path = rules_next_path(&r, path, &kind);
                check_string("path", path, expected[i]);
                check_int("kind", kind, kinds[i]);
        }
        check_true("end", !rules_next_path(&r, path, &kind));
        other = r;
        check_true("equal", rules_equal(&r, &other));
        other.paths[0] = RULES_DENIED;
        check_true("another kind", !rules_equal(&r, &other));

        r = (Rules) { 0 };
        memset(longest, 'a', sizeof(longest));
        longest[sizeof(longest) - 1] = '\0';
        check_result("too long", rules_add_path(&r, RULES_DENIED, longest), -ENOSPC);
        check_result("as long as it goes", rules_add_path(&r, RULES_DENIED, longest + 1), 0);
        check_result("no room", rules_add_path(&r, RULES_DENIED, "/"), -ENOSPC);
        r = (Rules) { 0 };
        for (int i = 0; i < RULES_PATHS_MAX; i++)
                check_result("as many as there may be", rules_add_path(&r, RULES_DENIED, "/a"), 0);
        check_result("one too many", rules_add_path(&r, RULES_DENIED, "/a"), -ENOSPC);
}

TEST(answers_keep_their_fields) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        SpawnMessage m;

        check_result("created", spawn_decode(buffer, encode(&created, buffer), &m), 0);
        check_int("pid", m.created.pid, created.created.pid);
        check_uint("base", m.created.id_base, created.created.id_base);
        check_uint("missing", m.created.guards_missing, created.created.guards_missing);
        check_uint("backing", m.created.disk_backing, created.created.disk_backing);
        check_result("failed", spawn_decode(buffer, encode(&failed, buffer), &m), 0);
        check_int("error", m.failure.error, failed.failure.error);
        check_string("text", m.failure.text, failed.failure.text);
        check_result("hello", spawn_decode(buffer, encode(&hello, buffer), &m), 0);
        check_true("privileged", m.hello.privileged);
        check_uint("cgroup version", m.hello.cgroup_version, 2);
        check_uint("depot", m.hello.depot, 1);
        check_string("its reason", m.hello.depot_reason, "no btrfs");
        check_result("done", spawn_decode(buffer, encode(&done, buffer), &m), 0);
        check_int("status", m.done.status, 0x0100);
        check_uint("bytes", m.done.bytes, done.done.bytes);
        check_result("tree item", spawn_decode(buffer, encode(&tree_item, buffer), &m), 0);
        check_uint("kind", m.tree_item.ref.kind, TREE_SNAPSHOT);
        check_string("name", m.tree_item.ref.name, ID);
        check_uint("bytes", m.tree_item.bytes, 4096);
        check_result("item", spawn_decode(buffer, encode(&item, buffer), &m), 0);
        check_string("id", m.id, ID);
}

TEST(tree_keeps_its_fields) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        SpawnMessage m;

        check_result("decode", spawn_decode(buffer, encode(&tree, buffer), &m), 0);
        check_uint("operation", m.tree.operation, TREE_RUN);
        check_uint("bytes", m.tree.bytes, tree.tree.bytes);
        check_uint("cancels", m.tree.cancels, tree.tree.cancels);
        check_uint("references", m.tree.n_refs, 2);
        check_uint("kind", m.tree.refs[0].kind, TREE_SCRATCH);
        check_true("writable", m.tree.refs[0].writable);
        check_string("name", m.tree.refs[0].name, ID);
        check_uint("kind", m.tree.refs[1].kind, TREE_LAYER);
        check_true("read-only", !m.tree.refs[1].writable);
        check_string("name", m.tree.refs[1].name, LAYER);
        check_uint("arguments", m.tree.arguments_size, 10);
        check_string("first", m.tree.arguments, "pack");
        check_string("second", m.tree.arguments + 5, "none");
}

TEST(tree_names) {
        static const char *const good[] = { "a", "0", ID, LAYER };
        static const char *const bad[] = { "", LAYER "0", "A", "a.b", "..", ".", "a/b", "/", "a-b", "a b", "a\n", "\xc3\xa4" };

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                check_true(good[i], tree_name_is_valid(good[i]));
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_true(bad[i], !tree_name_is_valid(bad[i]));
}

TEST(tree_arguments) {
        char longest[TREE_ARGUMENTS_MAX + 1];
        TreeRequest t = { 0 };

        memset(longest, 'a', sizeof(longest));
        longest[TREE_ARGUMENTS_MAX] = '\0';
        check_result("too long", tree_add_argument(&t, longest), -ENOSPC);
        check_uint("nothing of it", t.arguments_size, 0);
        check_result("as long as it goes", tree_add_argument(&t, longest + 1), 0);
        check_uint("all of it", t.arguments_size, TREE_ARGUMENTS_MAX);
        check_result("no room", tree_add_argument(&t, ""), -ENOSPC);
}

/* As spawn.h draws them. */
TEST(bytes) {
        /* clang-format off */
        static const uint8_t expected[] = {
                SPAWN_DESTROY, 0, 0, 0, /* type, reserved */
                7, 0, 0, 0,             /* serial */
                21, 0, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'z',
        };
        static const uint8_t expected_created[] = {
                SPAWN_CREATED, 0, 0, 0, 10, 0, 0, 0,
                0x67, 0x12, 0, 0,
                0, 0, 0, 0x40,
                5, 0, 0, 0, 0, 0, 0, 0,
                1,
        };
        /* clang-format on */
        uint8_t buffer[SPAWN_MESSAGE_MAX];

        check_uint("destroy: size", encode(&destroy, buffer), sizeof(expected));
        check_true("destroy: bytes", memcmp(buffer, expected, sizeof(expected)) == 0);
        check_uint("created: size", encode(&created, buffer), sizeof(expected_created));
        check_true("created: bytes", memcmp(buffer, expected_created, sizeof(expected_created)) == 0);
}

TEST(beyond_the_tables) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        SpawnMessage m = { .type = SPAWN_CREATE, .create.n_volumes = SPAWN_VOLUMES_MAX + 1 };

        check_result("volumes", spawn_encode(&m, buffer, sizeof(buffer)), -ENOSPC);
        m = (SpawnMessage) { .type = SPAWN_TREE, .tree = { .operation = TREE_MAKE, .n_refs = TREE_REFS_MAX + 1 } };
        check_result("references", spawn_encode(&m, buffer, sizeof(buffer)), -ENOSPC);
        m = (SpawnMessage) { .type = SPAWN_TREE, .tree = { .operation = TREE_RUN, .arguments_size = TREE_ARGUMENTS_MAX + 1 } };
        check_result("arguments", spawn_encode(&m, buffer, sizeof(buffer)), -ENOSPC);
}

TEST(longest_strings) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        SpawnMessage m = { .type = SPAWN_CREATE }, back;

        memset(m.create.id, 'i', SPAWN_ID_MAX - 1);
        memset(m.create.template_name, 't', SPAWN_NAME_MAX - 1);
        memset(m.create.hostname, 'h', SPAWN_NAME_MAX - 1);
        memset(m.create.workdir, 'w', SPAWN_PATH_MAX - 1);
        check_result("decode", spawn_decode(buffer, encode(&m, buffer), &back), 0);
        check_string("id", back.create.id, m.create.id);
        check_string("template", back.create.template_name, m.create.template_name);
        check_string("host name", back.create.hostname, m.create.hostname);
        check_string("working directory", back.create.workdir, m.create.workdir);

        m = (SpawnMessage) { .type = SPAWN_FAILED, .failure.error = 1 };
        memset(m.failure.text, 'f', SPAWN_TEXT_MAX);
        check_uint("text without a NUL is cut", encode(&m, buffer), HEADER + 4 + 2 + SPAWN_TEXT_MAX - 1);
}

TEST(truncated) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[SPAWN_MESSAGE_MAX];
                size_t n = encode(samples[i].message, buffer);

                for (size_t shorter = 0; shorter < n; shorter++)
                        check_refused(samples[i].name, buffer, shorter);
        }
}

TEST(oversized) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[SPAWN_MESSAGE_MAX] = { 0 };
                size_t n = encode(samples[i].message, buffer);

                buffer[n] = 0;
                check_refused(samples[i].name, buffer, n + 1);
        }
}

TEST(unknown_type) {
        for (unsigned type = 0; type < 512; type++) {
                const uint8_t buffer[HEADER] = { (uint8_t) type, (uint8_t) (type >> 8) };
                bool known = (type >= SPAWN_CREATE && type <= SPAWN_PING) || (type >= SPAWN_HELLO && type < _SPAWN_TYPE_MAX);
                SpawnMessage m;
                char what[32];

                (void) snprintf(what, sizeof(what), "type %u", type);
                if (!known)
                        check_refused(what, buffer, sizeof(buffer));
                m = (SpawnMessage) { .type = (SpawnType) type };
                check_int(what, spawn_encode(&m, (uint8_t[SPAWN_MESSAGE_MAX]) { 0 }, SPAWN_MESSAGE_MAX) == -EINVAL, !known);
        }
}

TEST(reserved_bytes) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[SPAWN_MESSAGE_MAX];
                size_t n = encode(samples[i].message, buffer);

                buffer[2] = 1;
                check_refused(samples[i].name, buffer, n);
                buffer[2] = 0;
                buffer[3] = 0x80;
                check_refused(samples[i].name, buffer, n);
        }
}

TEST(bad_values) {
        static const SpawnMessage rows[] = {
                { .type = SPAWN_CREATE, .create.network = _SPAWN_NETWORK_MAX },
                { .type = SPAWN_CREATE, .create.rules.flags = 4 },
                { .type = SPAWN_CREATE, .create.rules = { .paths_size = 5, .paths = "\5/etc" } },
                { .type = SPAWN_CREATE, .create.rules = { .paths_size = 6, .paths = "\5/etc" } },
                { .type = SPAWN_CREATE, .create.rules = { .paths_size = 2, .paths = "\1" } },
                { .type = SPAWN_HELLO, .hello.cgroup_version = 3 },
                { .type = SPAWN_HELLO, .hello.depot = 3 },
                { .type = SPAWN_TREE },
                { .type = SPAWN_TREE, .tree.operation = _TREE_OPERATION_MAX },
                { .type = SPAWN_TREE, .tree = { .operation = TREE_MAKE, .n_refs = 1 } },
                { .type = SPAWN_TREE, .tree = { .operation = TREE_MAKE, .n_refs = 1, .refs[0].kind = _TREE_KIND_MAX } },
                { .type = SPAWN_TREE, .tree = { .operation = TREE_RUN, .arguments_size = 4, .arguments = "pack" } },
                { .type = SPAWN_TREE_ITEM },
                { .type = SPAWN_CREATED },
                { .type = SPAWN_CREATED, .created.pid = -1 },
                { .type = SPAWN_FAILED },
                { .type = SPAWN_FAILED, .failure.error = -ENOENT },
                { .type = SPAWN_FAILED, .failure.error = 4096 },
        };
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        size_t n;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                n = encode(rows + i, buffer);
                check_refused("a value that nobody would send", buffer, n);
        }
        n = encode(&hello, buffer);
        buffer[HEADER] = 2;
        check_refused("a truth of 2", buffer, n);
        n = encode(&tree, buffer);
        buffer[HEADER + 1] = 1;
        check_refused("flags", buffer, n);
        n = encode(&tree, buffer);
        buffer[HEADER + 16] = 2;
        check_refused("writable: a truth of 2", buffer, n);
        n = encode(&destroy, buffer);
        buffer[HEADER + 2 + 5] = 0;
        check_refused("a NUL in an id", buffer, n);
}

TEST(encode_needs_room) {
        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                uint8_t buffer[SPAWN_MESSAGE_MAX];
                size_t n = encode(samples[i].message, buffer);

                for (size_t size = 0; size < n; size++) {
                        memset(buffer, 0x5a, sizeof(buffer));
                        check_result(samples[i].name, spawn_encode(samples[i].message, buffer, size), -ENOSPC);
                        check_uint("the byte behind", buffer[size], 0x5a);
                }
        }
}

/* Any bytes at all: refused, or exactly what we would have sent. */
TEST(garbage) {
        uint32_t random = 1;

        for (unsigned round = 0; round < 20000; round++) {
                uint8_t data[96], again[SPAWN_MESSAGE_MAX];
                size_t size = 0;
                SpawnMessage m;

                for (; size < sizeof(data); size++) {
                        random = random * 1664525 + 1013904223;
                        data[size] = (uint8_t) (random >> 24);
                        if (size >= HEADER && (random & 0xff) == 0)
                                break;
                }
                data[0] %= _SPAWN_TYPE_MAX;
                data[1] = data[2] = data[3] = 0;
                if (spawn_decode(data, size, &m) < 0)
                        continue;
                check_uint("size", encode(&m, again), size);
                check_true("bytes", memcmp(data, again, size) == 0);
        }
}
