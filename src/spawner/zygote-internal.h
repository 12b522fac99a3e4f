/* zygote-internal.h: shared by the files of zygotes. */
#pragma once

#include "spawner/zygote.h"

typedef enum ZygoteState {
        ZYGOTE_ABSENT,
        ZYGOTE_LOADING,
        ZYGOTE_STANDS,
} ZygoteState;

typedef struct Zygote {
        const ZygoteLine *line;
        ZygoteState state;
        pid_t pid;
        int fd;
        bool wanted;
        usec_t started;
        usec_t due;   /* absent: when to begin; loading: when that was too long */
        usec_t delay; /* before the next beginning */
        Cgroup cgroup;
} Zygote;

/* One child on its way. */
typedef struct ZygoteEntry {
        bool taken;
        uint32_t serial;
        int report_fd;
        usec_t deadline;
        char id[SPAWN_ID_MAX];
} ZygoteEntry;

struct Zygotes {
        Zygote items[ZYGOTES_MAX];
        size_t n;
        ZygoteEntry entries[ZYGOTE_FORKS_MAX];
        size_t n_entries;
};

/* zygote-start.c: a process that becomes the interpreter. Its socket's other end is *ret_fd. */
int zygote_start(const Spawner *s, const ZygoteLine *line, size_t number, Cgroup *cg, pid_t *ret_pid, int *ret_fd, Error *reterr);
void zygote_remove_group(const Spawner *s, size_t number, usec_t patience);

/* zygote-root.c: situation: a process of its own that may be what it likes. Its root becomes the template's files, read-only, and what a zygote needs. */
int zygote_take_root(const char *directory, const char *library, Error *reterr);

/* zygote-sandbox.c: what a child needs to enter a sandbox. -EOPNOTSUPP: it was not made for that. */
typedef struct ZygoteDoor {
        int namespaces[_ZYGOTE_NAMESPACE_MAX];
        uid_t owner; /* on the host */
        Cgroup cgroup;
        int tasks[ZYGOTE_TASKS_MAX]; /* v1 */
        size_t n_tasks, n_early;
} ZygoteDoor;

int zygote_door_open(const Spawner *s, const char *id, ZygoteDoor *ret, Error *reterr);
void zygote_door_close(ZygoteDoor *d);
int zygote_move_in(const Spawner *s, const char *id, pid_t pid); /* v2 */
