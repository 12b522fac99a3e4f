#include "wire/spawn.h"

#include "wire/shape.h"

#define CGROUP_VERSION_MAX 2
#define DEPOT_BACKING_MAX  2 /* the values are in depot/depot.h */

static const ShapeField volume_fields[] = {
        { "name",     SHAPE_CHARS, SHAPE_AT(SpawnVolume, name)     },
        { "target",   SHAPE_CHARS, SHAPE_AT(SpawnVolume, target)   },
        { "writable", SHAPE_BOOL,  offsetof(SpawnVolume, writable) },
};
static const Shape volume = SHAPE_OF(volume, SpawnVolume);

static const ShapeField create_fields[] = {
        { "id",           SHAPE_CHARS,  SHAPE_AT(SpawnCreate, id)            },
        { "template",     SHAPE_CHARS,  SHAPE_AT(SpawnCreate, template_name) },
        { "layer",        SHAPE_CHARS,  SHAPE_AT(SpawnCreate, layer)         },
        { "zygote",       SHAPE_BOOL,   offsetof(SpawnCreate, zygote)        },
        { "kept",         SHAPE_BOOL,   offsetof(SpawnCreate, kept)          },
        { "hostname",     SHAPE_CHARS,  SHAPE_AT(SpawnCreate, hostname)      },
        { "workdir",      SHAPE_CHARS,  SHAPE_AT(SpawnCreate, workdir)       },
        { "uid",          SHAPE_UINT32, offsetof(SpawnCreate, uid)           },
        { "gid",          SHAPE_UINT32, offsetof(SpawnCreate, gid)           },
        { "sudo",         SHAPE_BOOL,   offsetof(SpawnCreate, sudo)          },
        { "memoryBytes",  SHAPE_UINT64, offsetof(SpawnCreate, memory_bytes)  },
        { "diskBytes",    SHAPE_UINT64, offsetof(SpawnCreate, disk_bytes)    },
        { "cpuMilli",     SHAPE_UINT32, offsetof(SpawnCreate, cpu_milli)     },
        { "pids",         SHAPE_UINT32, offsetof(SpawnCreate, pids)          },
        { "allowMissing", SHAPE_UINT64, offsetof(SpawnCreate, allow_missing) },
        { "network",      SHAPE_UINT8,  offsetof(SpawnCreate, network), .max = _SPAWN_NETWORK_MAX - 1 },
        { "address",      SHAPE_UINT32, offsetof(SpawnCreate, address)       },
        { "volumes",      SHAPE_ARRAY,  SHAPE_AT(SpawnCreate, volumes), .count = offsetof(SpawnCreate, n_volumes), .shape = &volume },
};
static const Shape create = SHAPE_OF(create, SpawnCreate);

static void create_put_rules(WireWriter *w, const void *fields) {
        rules_put(w, &((const SpawnCreate *) fields)->rules);
}

static bool create_get_rules(WireReader *r, unsigned type, void *fields) {
        return rules_get(r, &((SpawnCreate *) fields)->rules);
}

static const ShapeField id_fields[] = { { "id", SHAPE_CHARS, 0, .size = SPAWN_ID_MAX } };
static const Shape id = { .fields = id_fields, .n_fields = 1, .size = SPAWN_ID_MAX };

static const ShapeField zygote_fields[] = {
        { "id",          SHAPE_CHARS,  SHAPE_AT(SpawnZygote, id)            },
        { "template",    SHAPE_CHARS,  SHAPE_AT(SpawnZygote, template_name) },
        { "language",    SHAPE_CHARS,  SHAPE_AT(SpawnZygote, language)      },
        { "gid",         SHAPE_UINT32, offsetof(SpawnZygote, gid)           },
        { "nofile",      SHAPE_UINT64, offsetof(SpawnZygote, nofile)        },
        { "nproc",       SHAPE_UINT64, offsetof(SpawnZygote, nproc)         },
        { "fileBytes",   SHAPE_UINT64, offsetof(SpawnZygote, file_bytes)    },
        { "noProcesses", SHAPE_BOOL,   offsetof(SpawnZygote, no_processes)  },
};
static const Shape zygote = SHAPE_OF(zygote, SpawnZygote);

static const ShapeField hello_fields[] = {
        { "privileged",    SHAPE_BOOL,  offsetof(SpawnHello, privileged)                               },
        { "cgroupVersion", SHAPE_UINT8, offsetof(SpawnHello, cgroup_version), .max = CGROUP_VERSION_MAX },
        { "depot",         SHAPE_UINT8, offsetof(SpawnHello, depot), .max = DEPOT_BACKING_MAX           },
        { "depotReason",   SHAPE_CHARS, SHAPE_AT(SpawnHello, depot_reason)                              },
};
static const Shape hello = SHAPE_OF(hello, SpawnHello);

static const ShapeField created_fields[] = {
        { "pid",           SHAPE_INT,    offsetof(SpawnCreated, pid), .min = 1  },
        { "idBase",        SHAPE_UINT32, offsetof(SpawnCreated, id_base)        },
        { "guardsMissing", SHAPE_UINT64, offsetof(SpawnCreated, guards_missing) },
        { "diskBacking",   SHAPE_UINT8,  offsetof(SpawnCreated, disk_backing)   },
};
static const Shape created = SHAPE_OF(created, SpawnCreated);

static const ShapeField done_fields[] = {
        { "status", SHAPE_INT,    offsetof(SpawnDone, status) },
        { "bytes",  SHAPE_UINT64, offsetof(SpawnDone, bytes)  },
};
static const Shape done = SHAPE_OF(done, SpawnDone);

static const ShapeField forked_fields[] = { { "pid", SHAPE_INT, offsetof(SpawnForked, pid), .min = 1 } };
static const Shape forked = SHAPE_OF(forked, SpawnForked);

static const ShapeField room_fields[] = {
        { "bytes",     SHAPE_UINT64, offsetof(SpawnRoom, bytes)      },
        { "usedBytes", SHAPE_UINT64, offsetof(SpawnRoom, used_bytes) },
        { "mostBytes", SHAPE_UINT64, offsetof(SpawnRoom, most_bytes) },
};
static const Shape room = SHAPE_OF(room, SpawnRoom);

static const ShapeField tree_item_fields[] = {
        { "ref",   SHAPE_OBJECT, offsetof(SpawnTreeItem, ref), .shape = &tree_ref_shape },
        { "bytes", SHAPE_UINT64, offsetof(SpawnTreeItem, bytes)                         },
};
static const Shape tree_item = SHAPE_OF(tree_item, SpawnTreeItem);

static const ShapeField failure_fields[] = {
        { "error", SHAPE_INT,   offsetof(WireSpawnFailure, error), .min = 1, .max = WIRE_ERROR_MAX },
        { "text",  SHAPE_CHARS, SHAPE_AT(WireSpawnFailure, text)                                   },
};
static const Shape failure = SHAPE_OF(failure, WireSpawnFailure);

static const WireLine spawn_lines[_SPAWN_TYPE_MAX] = {
        [SPAWN_CREATE]    = WIRE_LINE(SpawnMessage, create, create, .put_rest = create_put_rules, .get_rest = create_get_rules),
        [SPAWN_DESTROY]   = WIRE_LINE(SpawnMessage, id, id),
        [SPAWN_FREEZE]    = WIRE_LINE(SpawnMessage, id, id),
        [SPAWN_THAW]      = WIRE_LINE(SpawnMessage, id, id),
        [SPAWN_LIST]      = WIRE_NOTHING,
        [SPAWN_TREE]      = WIRE_LINE(SpawnMessage, tree, tree_request_shape, .check = tree_request_check, .put_rest = tree_put_arguments, .get_rest = tree_get_arguments),
        [SPAWN_RECLAIM]   = WIRE_LINE(SpawnMessage, id, id),
        [SPAWN_ZYGOTE]    = WIRE_LINE(SpawnMessage, zygote, zygote),
        [SPAWN_PING]      = WIRE_NOTHING,
        [SPAWN_HELLO]     = WIRE_LINE(SpawnMessage, hello, hello),
        [SPAWN_CREATED]   = WIRE_LINE(SpawnMessage, created, created),
        [SPAWN_DONE]      = WIRE_LINE(SpawnMessage, done, done),
        [SPAWN_FAILED]    = WIRE_LINE(SpawnMessage, failure, failure),
        [SPAWN_ITEM]      = WIRE_LINE(SpawnMessage, id, id),
        [SPAWN_END]       = WIRE_NOTHING,
        [SPAWN_TREE_ITEM] = WIRE_LINE(SpawnMessage, tree_item, tree_item),
        [SPAWN_FORKED]    = WIRE_LINE(SpawnMessage, forked, forked),
        [SPAWN_ROOM]      = WIRE_LINE(SpawnMessage, room, room),
};

static const WireSet spawn_set = { spawn_lines, _SPAWN_TYPE_MAX, .type = offsetof(SpawnMessage, type), .serial = offsetof(SpawnMessage, serial) };
WIRE_CODEC(spawn_encode, spawn_decode, SpawnMessage, spawn_set);
