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
        usec_t due;   /* absent: time of the next start; loading: deadline */
        usec_t delay; /* before the next start */
        Cgroup cgroup;
} Zygote;

/* One child on its way into a sandbox. */
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

/* zygote-start.c: starts a process that becomes the interpreter. *ret_fd: our end of its socket. */
int zygote_start(const Spawner *s, const ZygoteLine *line, size_t number, Cgroup *cg, pid_t *ret_pid, int *ret_fd, Error *reterr);
void zygote_remove_group(const Spawner *s, size_t number, usec_t patience);

/* zygote-root.c: situation: a process of its own, with all privileges. Its root becomes the template's files,
 * read-only, and the files that a zygote needs. */
int zygote_take_root(const char *directory, const char *library, Error *reterr);

/* zygote-sandbox.c: the descriptors with which a child enters a sandbox. -EOPNOTSUPP: the sandbox was not made for
 * it. */
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
