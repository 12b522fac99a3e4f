#include "wire/spawn.h"

#include <errno.h>

#include "wire/codec.h"

#define ERROR_MAX          4095 /* the kernel's */
#define CGROUP_VERSION_MAX 2
#define DEPOT_BACKING_MAX  2 /* depot/depot.h has the words */

static void put_volumes(WireWriter *w, const SpawnCreate *c) {
        if (c->n_volumes > SPAWN_VOLUMES_MAX) {
                w->failed = true;
                return;
        }
        wire_put_uint(w, c->n_volumes, 1);
        for (size_t i = 0; i < c->n_volumes; i++) {
                wire_put_string(w, c->volumes[i].name, sizeof(c->volumes[i].name));
                wire_put_string(w, c->volumes[i].target, sizeof(c->volumes[i].target));
                wire_put_uint(w, c->volumes[i].writable, 1);
        }
}

static bool get_volumes(WireReader *r, SpawnCreate *c) {
        uint64_t n = wire_get_uint(r, 1);

        if (n > SPAWN_VOLUMES_MAX)
                return false;
        for (size_t i = 0; i < n; i++) {
                uint64_t writable;

                wire_get_string(r, c->volumes[i].name, sizeof(c->volumes[i].name));
                wire_get_string(r, c->volumes[i].target, sizeof(c->volumes[i].target));
                writable = wire_get_uint(r, 1);
                if (writable > 1)
                        return false;
                c->volumes[i].writable = writable == 1;
        }
        c->n_volumes = (uint8_t) n;
        return !r->failed;
}

static void put_create(WireWriter *w, const SpawnMessage *m) {
        const SpawnCreate *c = &m->create;

        wire_put_string(w, c->id, SPAWN_ID_MAX);
        wire_put_string(w, c->template_name, SPAWN_NAME_MAX);
        wire_put_string(w, c->layer, sizeof(c->layer));
        wire_put_uint(w, c->zygote, 1);
        wire_put_uint(w, c->kept, 1);
        wire_put_string(w, c->hostname, SPAWN_NAME_MAX);
        wire_put_string(w, c->workdir, SPAWN_PATH_MAX);
        wire_put_uint(w, c->uid, 4);
        wire_put_uint(w, c->gid, 4);
        wire_put_uint(w, c->sudo, 1);
        wire_put_uint(w, c->memory_bytes, 8);
        wire_put_uint(w, c->disk_bytes, 8);
        wire_put_uint(w, c->cpu_milli, 4);
        wire_put_uint(w, c->pids, 4);
        wire_put_uint(w, c->allow_missing, 8);
        wire_put_uint(w, c->network, 1);
        wire_put_uint(w, c->address, 4);
        put_volumes(w, c);
        rules_put(w, &c->rules);
}

static bool get_create(WireReader *r, SpawnMessage *m) {
        SpawnCreate *c = &m->create;
        uint64_t zygote, kept, sudo;

        wire_get_string(r, c->id, SPAWN_ID_MAX);
        wire_get_string(r, c->template_name, SPAWN_NAME_MAX);
        wire_get_string(r, c->layer, sizeof(c->layer));
        zygote = wire_get_uint(r, 1);
        c->zygote = zygote == 1;
        kept = wire_get_uint(r, 1);
        c->kept = kept == 1;
        wire_get_string(r, c->hostname, SPAWN_NAME_MAX);
        wire_get_string(r, c->workdir, SPAWN_PATH_MAX);
        c->uid = (uint32_t) wire_get_uint(r, 4);
        c->gid = (uint32_t) wire_get_uint(r, 4);
        sudo = wire_get_uint(r, 1);
        c->sudo = sudo == 1;
        c->memory_bytes = wire_get_uint(r, 8);
        c->disk_bytes = wire_get_uint(r, 8);
        c->cpu_milli = (uint32_t) wire_get_uint(r, 4);
        c->pids = (uint32_t) wire_get_uint(r, 4);
        c->allow_missing = wire_get_uint(r, 8);
        c->network = (uint8_t) wire_get_uint(r, 1);
        c->address = (uint32_t) wire_get_uint(r, 4);
        return zygote <= 1 && kept <= 1 && sudo <= 1 && c->network < _SPAWN_NETWORK_MAX && get_volumes(r, c) && rules_get(r, &c->rules);
}

static void put_id(WireWriter *w, const SpawnMessage *m) {
        wire_put_string(w, m->id, SPAWN_ID_MAX);
}

static bool get_id(WireReader *r, SpawnMessage *m) {
        wire_get_string(r, m->id, SPAWN_ID_MAX);
        return true;
}

static void put_hello(WireWriter *w, const SpawnMessage *m) {
        wire_put_uint(w, m->hello.privileged, 1);
        wire_put_uint(w, m->hello.cgroup_version, 1);
        wire_put_uint(w, m->hello.depot, 1);
        wire_put_string(w, m->hello.depot_reason, sizeof(m->hello.depot_reason));
}

static bool get_hello(WireReader *r, SpawnMessage *m) {
        uint64_t privileged = wire_get_uint(r, 1), version = wire_get_uint(r, 1), depot = wire_get_uint(r, 1);

        m->hello.privileged = privileged == 1;
        m->hello.cgroup_version = (uint8_t) version;
        m->hello.depot = (uint8_t) depot;
        wire_get_string(r, m->hello.depot_reason, sizeof(m->hello.depot_reason));
        return privileged <= 1 && version <= CGROUP_VERSION_MAX && depot <= DEPOT_BACKING_MAX;
}

static void put_created(WireWriter *w, const SpawnMessage *m) {
        wire_put_uint(w, (uint32_t) m->created.pid, 4);
        wire_put_uint(w, m->created.id_base, 4);
        wire_put_uint(w, m->created.guards_missing, 8);
        wire_put_uint(w, m->created.disk_backing, 1);
}

static bool get_created(WireReader *r, SpawnMessage *m) {
        m->created.pid = (int32_t) wire_get_uint(r, 4);
        m->created.id_base = (uint32_t) wire_get_uint(r, 4);
        m->created.guards_missing = wire_get_uint(r, 8);
        m->created.disk_backing = (uint8_t) wire_get_uint(r, 1);
        return m->created.pid > 0;
}

static void put_done(WireWriter *w, const SpawnMessage *m) {
        wire_put_uint(w, (uint32_t) m->done.status, 4);
        wire_put_uint(w, m->done.bytes, 8);
}

static bool get_done(WireReader *r, SpawnMessage *m) {
        m->done.status = (int32_t) wire_get_uint(r, 4);
        m->done.bytes = wire_get_uint(r, 8);
        return true;
}

static void put_zygote(WireWriter *w, const SpawnMessage *m) {
        const SpawnZygote *z = &m->zygote;

        wire_put_string(w, z->id, SPAWN_ID_MAX);
        wire_put_string(w, z->template_name, SPAWN_NAME_MAX);
        wire_put_string(w, z->language, SPAWN_NAME_MAX);
        wire_put_uint(w, z->gid, 4);
        wire_put_uint(w, z->nofile, 8);
        wire_put_uint(w, z->nproc, 8);
        wire_put_uint(w, z->file_bytes, 8);
        wire_put_uint(w, z->no_processes, 1);
}

static bool get_zygote(WireReader *r, SpawnMessage *m) {
        SpawnZygote *z = &m->zygote;
        uint64_t no_processes;

        wire_get_string(r, z->id, SPAWN_ID_MAX);
        wire_get_string(r, z->template_name, SPAWN_NAME_MAX);
        wire_get_string(r, z->language, SPAWN_NAME_MAX);
        z->gid = (uint32_t) wire_get_uint(r, 4);
        z->nofile = wire_get_uint(r, 8);
        z->nproc = wire_get_uint(r, 8);
        z->file_bytes = wire_get_uint(r, 8);
        no_processes = wire_get_uint(r, 1);
        z->no_processes = no_processes == 1;
        return no_processes <= 1;
}

static void put_forked(WireWriter *w, const SpawnMessage *m) {
        wire_put_uint(w, (uint32_t) m->forked.pid, 4);
}

static bool get_forked(WireReader *r, SpawnMessage *m) {
        m->forked.pid = (int32_t) wire_get_uint(r, 4);
        return m->forked.pid > 0;
}

static void put_tree(WireWriter *w, const SpawnMessage *m) {
        tree_put(w, &m->tree);
}

static bool get_tree(WireReader *r, SpawnMessage *m) {
        return tree_get(r, &m->tree);
}

static void put_tree_item(WireWriter *w, const SpawnMessage *m) {
        tree_put_ref(w, &m->tree_item.ref);
        wire_put_uint(w, m->tree_item.bytes, 8);
}

static bool get_tree_item(WireReader *r, SpawnMessage *m) {
        if (!tree_get_ref(r, &m->tree_item.ref))
                return false;
        m->tree_item.bytes = wire_get_uint(r, 8);
        return true;
}

static void spawn_put_failure(WireWriter *w, const SpawnMessage *m) {
        wire_put_uint(w, (uint32_t) m->failure.error, 4);
        wire_put_string(w, m->failure.text, SPAWN_TEXT_MAX);
}

static bool spawn_get_failure(WireReader *r, SpawnMessage *m) {
        m->failure.error = (int32_t) wire_get_uint(r, 4);
        wire_get_string(r, m->failure.text, SPAWN_TEXT_MAX);
        return m->failure.error > 0 && m->failure.error <= ERROR_MAX;
}

static void spawn_put_nothing(WireWriter *w, const SpawnMessage *m) {
}

static bool spawn_get_nothing(WireReader *r, SpawnMessage *m) {
        return true;
}

/* A type that is not here does not exist. */
static const struct {
        void (*put)(WireWriter *w, const SpawnMessage *m);
        bool (*get)(WireReader *r, SpawnMessage *m); /* false: a value that nobody would send */
} types[_SPAWN_TYPE_MAX] = {
        [SPAWN_CREATE]    = { put_create,     get_create    },
        [SPAWN_DESTROY]   = { put_id,         get_id        },
        [SPAWN_FREEZE]    = { put_id,         get_id        },
        [SPAWN_THAW]      = { put_id,         get_id        },
        [SPAWN_LIST]      = { spawn_put_nothing,    spawn_get_nothing   },
        [SPAWN_TREE]      = { put_tree,       get_tree      },
        [SPAWN_RECLAIM]   = { put_id,         get_id        },
        [SPAWN_ZYGOTE]    = { put_zygote,     get_zygote    },
        [SPAWN_HELLO]     = { put_hello,      get_hello     },
        [SPAWN_CREATED]   = { put_created,    get_created   },
        [SPAWN_DONE]      = { put_done,       get_done      },
        [SPAWN_FAILED]    = { spawn_put_failure,    spawn_get_failure   },
        [SPAWN_ITEM]      = { put_id,         get_id        },
        [SPAWN_END]       = { spawn_put_nothing,    spawn_get_nothing   },
        [SPAWN_TREE_ITEM] = { put_tree_item,  get_tree_item },
        [SPAWN_FORKED]    = { put_forked,     get_forked    },
};

ssize_t spawn_encode(const SpawnMessage *message, uint8_t *buffer, size_t size) {
        WireWriter w = { .p = buffer, .end = buffer + size };

        if (message->type >= _SPAWN_TYPE_MAX || !types[message->type].put)
                return -EINVAL;
        wire_put_uint(&w, message->type, 2);
        wire_put_uint(&w, 0, 2);
        wire_put_uint(&w, message->serial, 4);
        types[message->type].put(&w, message);
        return w.failed ? -ENOSPC : w.p - buffer;
}

int spawn_decode(const uint8_t *data, size_t size, SpawnMessage *ret) {
        WireReader r = { .p = data, .end = data + size };
        SpawnMessage m = { 0 };
        uint64_t type = wire_get_uint(&r, 2), reserved = wire_get_uint(&r, 2);

        m.serial = (uint32_t) wire_get_uint(&r, 4);
        if (r.failed || reserved != 0 || type >= _SPAWN_TYPE_MAX || !types[type].get)
                return -EBADMSG;
        m.type = (SpawnType) type;
        if (!types[type].get(&r, &m) || !wire_reader_at_end(&r))
                return -EBADMSG;

        *ret = m;
        return 0;
}
