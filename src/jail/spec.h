/* spec.h: the description of a sandbox, as plain data.
 *
 * The caller fills and checks it; the jail only reads it. Strings are borrowed for the length of jail_start(). */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id.h"
#include "jail/emptyns.h"
#include "jail/ids.h"
#include "jail/net.h"
#include "wire/guard.h"
#include "wire/rules.h"

#define JAIL_ID_LENGTH ID_LENGTH
#define JAIL_INIT_ID   65533 /* uid and gid of PID 1 inside; no guest has it */

typedef struct JailBind {
        char *source; /* host path, exists */
        char *target; /* absolute, normalised path inside */
        bool writable;
        const char *layer; /* a directory with upper/ and work/ that gets the guest's changes; the source stays as it is. NULL: none */
        int layer_fd;      /* that directory, opened */
        int source_fd;     /* with a layer: the source, opened; its path may lead elsewhere by then */
} JailBind;

typedef struct JailFile {
        char *source; /* host path of a regular file */
        char *target;
        int fd; /* the source, opened for reading */
} JailFile;

typedef struct JailVolume {
        int fd; /* its directory, O_PATH */
        const char *target; /* as a bind's */
        bool writable;
} JailVolume;

#define JAIL_VOLUMES_MAX 8

/* Directories that outlive sandboxes. Their files have the ids of the inside. Only for real root, which can map
 * them. */
typedef struct JailTrees {
        int layer_fd; /* the template, instead of a path; -EBADF: none */
        int disk_fd;  /* the writable layer, perhaps with a former life in it; -EBADF: none */
        JailVolume volumes[JAIL_VOLUMES_MAX];
        size_t n_volumes;
} JailTrees;

#define JAIL_TREES_EMPTY { .layer_fd = -EBADF, .disk_fd = -EBADF }

typedef struct JailLimits {
        uint64_t memory_bytes; /* swap included */
        uint32_t cpu_milli;    /* thousandths of a core; 0: no quota */
        uint32_t pids; /* of the guest; PID 1 comes on top */
        uint32_t pids_room; /* extra processes in the cgroup for helpers of PID 1; an rlimit then limits each guest user */
        uint64_t disk_bytes;
        bool count; /* CPU time must be counted */
} JailLimits;

typedef struct JailSpec {
        char id[JAIL_ID_LENGTH + 1];
        const char *template_dir; /* NULL: the host's own /usr */
        const JailTrees *trees;   /* NULL: none */
        const char *hostname;
        const char *workdir;
        const char *keep_dir; /* NULL: the writable layer is removed with the sandbox */
        int keep_fd;          /* that directory, opened */
        uid_t uid;            /* of the guest, inside */
        gid_t gid;
        bool sudo;            /* the guest may become root by asking PID 1, with this program: */
        const char *sudo_program; /* host path; NULL: none is installed */
        bool furnished;       /* on the host's template: any user, who may become root, gets the files that root expects, and a home with files */
        bool net_host;
        Network network;      /* its shape, unless net_host; with a namespace that was made ahead (net.h), if it is detached */
        JailLimits limits;
        IdRanges *id_ranges; /* with rights of root: the table to take its ids from (ids.h); NULL: one for it alone */
        unsigned first_core; /* with a CPU limit: its first core, modulo the number of cores. Different values spread the sandboxes */
        GuardSet allow_missing;
        JailBind *binds;
        size_t n_binds;
        JailFile *files;
        size_t n_files;
        const Rules *rules; /* NULL: none */

        /* A sandbox that outlives its maker: after the last step of its start it no longer depends on us. */
        bool detached;
        const char *instance; /* of the daemon; part of the names of its cgroups */
        int listen_fd;        /* a socket for PID 1 to keep; -EBADF: none */
        int disk_fd;          /* a disk image that was made ahead (disk.h); -EBADF: none */
        const EmptyNs *emptyns; /* to be cloned from, where that is possible: see jail_starts_empty(). NULL: none */
        int home_netns_fd;    /* with a network namespace made ahead: our own namespace, to return to */
        NetSettings *settings; /* for a network that the jail makes (net.h); NULL: none */
        int dev_fd;           /* a /dev that was made ahead (dev.h); -EBADF: none */
        int etc_fd;           /* the shared /etc (sharedetc.h), of which it gets a copy; -EBADF: none */
        int anonymous_fd;     /* an open file with the locks of apart_hold_anonymous(), for PID 1 to keep; -EBADF: none */
        bool enterable;       /* a zygote's child (zygote/enter.c) may enter: the sandbox's user namespace owns all others, and its user owns that */

        /* Not detached: called after a network with sockets was made, while the sandbox still waits for it; starts the
         * process that serves the sockets. The descriptors stay ours; arg is jail_start()'s. */
        int (*attend)(const Network *network, int pidfd, void *arg, Error *reterr);
} JailSpec;

/* Its root directory is a template's as a whole: one lower layer for "/". */
static inline bool jail_has_template(const JailSpec *spec) {
        return spec->template_dir || (spec->trees && spec->trees->layer_fd >= 0);
}

/* Packages may be installed and users made in it, by its user or by the root that this user becomes. */
static inline bool jail_is_for_root(const JailSpec *spec) {
        return spec->uid == 0 || spec->furnished;
}

/* The writable layer may have had a guest before: its contents are untrusted, and existing files are not made again. */
static inline bool jail_is_kept(const JailSpec *spec) {
        return spec->trees && spec->trees->disk_fd >= 0;
}

/* Its /etc is an overlay of the shared one; else it is made inside, also in later lives of a disk that began that
 * way. */
static inline bool jail_has_shared_etc(const JailSpec *spec) {
        return spec->detached && spec->etc_fd >= 0 && !jail_has_template(spec) && (spec->furnished || !jail_is_kept(spec));
}

/* It is cloned from an empty mount namespace. One that makes its /etc by itself needs the host's paths for that. */
static inline bool jail_starts_empty(const JailSpec *spec) {
        return spec->detached && spec->emptyns && (jail_has_template(spec) || jail_has_shared_etc(spec));
}

static inline size_t jail_n_volumes(const JailSpec *spec) {
        return spec->trees ? spec->trees->n_volumes : 0;
}

/* Failures that a guest of a former life may have caused in its own root, and files that exist already: these do not
 * keep the sandbox from starting. */
static inline bool jail_forgives(const JailSpec *spec, int r) {
        return jail_is_kept(spec) && (r == -EEXIST || r == -ENOTDIR || r == -EISDIR || r == -ELOOP || r == -ENOENT || r == -ENOTEMPTY ||
                                                     r == -EDQUOT || r == -ENOSPC);
}
