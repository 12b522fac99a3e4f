/* spawn.h: the closed set of requests that coved may send to cove-spawner, and the answers.
 *
 * One SOCK_SEQPACKET pair, made by coved before it drops its privileges. Every request has a serial and gets exactly
 * one answer with that serial, except SPAWN_LIST, which gets items and an end. The spawner checks every request as if
 * an enemy had written it; it opens no path that a request names.
 * A serial also identifies the spawner process that it is for; these processes follow one another and are counted
 * from 0. A request for a former process is not carried out and gets no answer: coved repeats it after the HELLO of
 * the new one.
 * Pure encode and decode. Must not know: how sandboxes are made, sockets.
 *
 *      offset 0   u16 type
 *             2   u16 reserved, 0
 *             4   u32 serial
 *             8   the fields of the type
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/network.h"
#include "wire/rules.h"
#include "wire/tree.h"

#define SPAWN_MESSAGE_MAX 16384
#define SPAWN_NAME_MAX    64
#define SPAWN_ID_MAX      32
#define SPAWN_PATH_MAX    1024
#define SPAWN_TEXT_MAX    512
#define SPAWN_VOLUMES_MAX 8
#define SPAWN_TARGET_MAX  256
#define SPAWN_SERIALS     (UINT32_C(1) << 24) /* of one spawner process; the first is HELLO's */

typedef enum SpawnType {
        /* coved → spawner */
        SPAWN_CREATE = 1, /* + descriptors: the bound, not yet listening socket of PID 1; linked: the hub, when there is one already */
        SPAWN_DESTROY,    /* kill the remaining processes of a sandbox and remove its cgroups; works for any id, also unknown ones */
        SPAWN_FREEZE,
        SPAWN_THAW,
        SPAWN_LIST, /* every id that has a cgroup of this instance */
        SPAWN_TREE, /* tree.h; + descriptors for a RUN */
        SPAWN_RECLAIM, /* move the memory of a frozen sandbox to swap, or back to its files, as far as there is room; DONE at the end */
        SPAWN_ZYGOTE, /* + descriptors: channel, stdout and stderr of the new process. Forks a zygote's child into a sandbox that was made for it: FORKED */
        SPAWN_PING,   /* answered at once: DONE */

        /* spawner → coved */
        SPAWN_HELLO = 32, /* first message of each spawner process, with its first serial: requests to earlier processes are lost */
        SPAWN_CREATED,    /* + descriptors: control channel of PID 1 (guest.h), its pidfd */
        SPAWN_DONE,       /* destroy, freeze, thaw, reclaim, tree, ping */
        SPAWN_FAILED,
        SPAWN_ITEM,
        SPAWN_END,
        SPAWN_TREE_ITEM, /* of a TREE_LIST */
        SPAWN_FORKED,    /* the child has every wall of a command, and continues with the messages on its channel */
        SPAWN_ROOM,      /* of the depot, unasked, with the serial of HELLO: after HELLO and after every change */
        _SPAWN_TYPE_MAX,
} SpawnType;

/* The first serial of a process; the number wraps around. */
static inline uint32_t spawn_serial_of(unsigned process) {
        return (uint32_t) process * SPAWN_SERIALS;
}

static inline bool spawn_serials_go_together(uint32_t a, uint32_t b) {
        return a / SPAWN_SERIALS == b / SPAWN_SERIALS;
}

typedef struct SpawnVolume {
        char name[TREE_NAME_MAX + 1]; /* TREE_VOLUME */
        char target[SPAWN_TARGET_MAX];
        bool writable;
} SpawnVolume;

typedef struct SpawnCreate {
        char id[SPAWN_ID_MAX];
        char template_name[SPAWN_NAME_MAX]; /* one of those the spawner was started with; "host" and "base" are always there */
        char layer[TREE_NAME_MAX + 1]; /* TREE_LAYER that replaces the template; "": none */
        bool zygote; /* a zygote's child may enter it */
        bool kept; /* its writable layer is the TREE_DISK of its id, which exists already: new, of a former life, or copied */
        char hostname[SPAWN_NAME_MAX];
        char workdir[SPAWN_PATH_MAX];
        uint32_t uid, gid;
        bool sudo; /* the guest may become root inside, by asking PID 1 */
        uint64_t memory_bytes, disk_bytes;
        uint32_t cpu_milli; /* 0: no quota */
        uint32_t pids;
        uint64_t allow_missing; /* GuardSet */
        uint8_t network;    /* SpawnNetwork */
        uint32_t address;   /* linked: its own, 10.213.0.0/16, host byte order */
        uint8_t n_volumes;
        SpawnVolume volumes[SPAWN_VOLUMES_MAX];
        Rules rules;
} SpawnCreate;

/* FAILED with EOPNOTSUPP: no zygote is ready for that, or the sandbox was not made for it. */
typedef struct SpawnZygote {
        char id[SPAWN_ID_MAX];
        char template_name[SPAWN_NAME_MAX]; /* which zygote */
        char language[SPAWN_NAME_MAX];
        uint32_t gid; /* the user is the sandbox's own */
        uint64_t nofile, nproc, file_bytes; /* rlimits.h, as of a command; file_bytes 0: unchanged */
        bool no_processes;
} SpawnZygote;

typedef struct SpawnHello {
        bool privileged;
        uint8_t cgroup_version; /* 0: none */
        uint8_t depot;          /* DepotBacking */
        char depot_reason[256]; /* why the backing is not a better one, and the cure */
} SpawnHello;

typedef struct SpawnCreated {
        int32_t pid;
        uint32_t id_base; /* 0: a plain user's sandbox */
        uint64_t guards_missing;
        uint8_t disk_backing; /* DiskBacking */
} SpawnCreated;

typedef struct SpawnDone {
        int32_t status; /* as wait(2) gives it: of a TREE_RUN */
        uint64_t bytes; /* TREE_USAGE */
} SpawnDone;

typedef struct SpawnRoom { /* of the depot; all 0: there is none, or its size is not ours to change */
        uint64_t bytes, used_bytes, most_bytes; /* reserved on the disk below; used of these; possible at present */
} SpawnRoom;

typedef struct SpawnForked {
        int32_t pid; /* inside */
} SpawnForked;

typedef struct SpawnTreeItem {
        TreeRef ref;
        uint64_t bytes; /* used by it alone; 0: unknown */
} SpawnTreeItem;

typedef struct WireSpawnFailure {
        int32_t error; /* positive errno */
        char text[SPAWN_TEXT_MAX];
} WireSpawnFailure;

typedef struct SpawnMessage {
        SpawnType type;
        uint32_t serial;
        union {
                SpawnCreate create;
                char id[SPAWN_ID_MAX]; /* destroy, freeze, thaw, reclaim, item */
                SpawnHello hello;
                SpawnCreated created;
                SpawnDone done;
                TreeRequest tree;
                SpawnTreeItem tree_item;
                SpawnZygote zygote;
                SpawnForked forked;
                SpawnRoom room;
                WireSpawnFailure failure;
        };
} SpawnMessage;

ssize_t spawn_encode(const SpawnMessage *message, uint8_t *buffer, size_t size);
int spawn_decode(const uint8_t *data, size_t size, SpawnMessage *ret); /* -EBADMSG */
