/* userns.h: user namespaces and their id maps.
 *
 * Must not know: what runs in them. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct IdMap {
        uid_t inside_uid, outside_uid;
        gid_t inside_gid, outside_gid;
        unsigned count;
        bool single; /* made by a plain user: one id, and setgroups(2) closed */
} IdMap;

/* Writes the maps of a process that has just entered a new user namespace. */
int userns_write_maps(pid_t pid, const IdMap *map);

/* The namespace of a process, as a descriptor. */
int userns_open(pid_t pid);

/* A namespace without processes: only good for id-mapping a mount. */
int userns_make(const IdMap *map);

/* Whether we are real root, not the root of a user namespace, which may map only its own id. Negative errno: cannot
 * tell. */
int userns_is_host_root(void);
