/* spec.h: what a sandbox shall be, as plain data.
 *
 * Filled and checked by whoever asks; the jail only reads it. Strings are
 * borrowed for the length of jail_start(). */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id.h"
#include "jail/net.h"
#include "wire/guard.h"
#include "wire/rules.h"

#define JAIL_ID_LENGTH ID_LENGTH
#define JAIL_INIT_ID   65533 /* who PID 1 is inside, and no guest */

typedef struct JailBind {
        char *source; /* host path, exists */
        char *target; /* absolute, normalised path inside */
        bool writable;
        const char *layer; /* a directory with upper/ and work/: the guest writes there, over a source that stays as it is. NULL: none */
        int layer_fd;      /* that directory, opened */
        int source_fd;     /* with a layer: the source, opened. Its path may lead elsewhere by then, but not us */
} JailBind;

typedef struct JailFile {
        char *source; /* host path of a regular file */
        char *target;
        int fd; /* the source, opened for reading */
} JailFile;

typedef struct JailVolume {
        int fd; /* its directory, by name only */
        const char *target; /* as a bind's */
        bool writable;
} JailVolume;

#define JAIL_VOLUMES_MAX 8

/* Directories that outlive sandboxes. Ids of files in them are those of the inside. Only for real root, who can map them. */
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
        uint32_t pids_room; /* for helpers of PID 1's, in its cgroup; what keeps a guest's user to its number is an rlimit then */
        uint64_t disk_bytes;
        bool count; /* somebody will ask for CPU time */
} JailLimits;

typedef struct JailSpec {
        char id[JAIL_ID_LENGTH + 1];
        const char *template_dir; /* NULL: the host's own /usr */
        const JailTrees *trees;   /* NULL: none */
        const char *hostname;
        const char *workdir;
        const char *keep_dir; /* NULL: the writable layer goes with the sandbox */
        int keep_fd;          /* that directory, opened */
        uid_t uid;            /* of the guest, inside */
        gid_t gid;
        bool sudo;            /* he may become root by asking PID 1, with the program at: */
        const char *sudo_program; /* host path; NULL: none is put there */
        bool furnished;       /* on the host's template: what root expects is there for any user, who may become root, and a home with its files */
        bool net_host;
        Network network;      /* its shape, unless net_host; with a namespace that was made ahead (net.h), if it is detached */
        JailLimits limits;
        unsigned first_core; /* with a CPU limit, where its cores begin; modulo those that there are. Neighbours who differ spread */
        GuardSet allow_missing;
        JailBind *binds;
        size_t n_binds;
        JailFile *files;
        size_t n_files;
        const Rules *rules; /* NULL: none */

        /* A sandbox that outlives its maker: from the last step of its start on, nothing of it hangs on us. */
        bool detached;
        const char *instance; /* whose it is; part of the names of its cgroups */
        int listen_fd;        /* a socket for PID 1 to keep; -EBADF: none */
        int disk_fd;          /* a disk image that was made ahead (disk.h); -EBADF: none */
        int home_netns_fd;    /* with a network namespace that was: our own, to come back to */
        int dev_fd;           /* a /dev that was (dev.h); likewise */
        int etc_fd;           /* the shared /etc (sharedetc.h), of which it gets a copy; likewise */
        bool enterable;       /* a zygote's child (zygote/enter.c) may come in: all namespaces belong to the sandbox's own, and that to its user */

        /* Not detached: called when a network with sockets was made and the sandbox still waits for it; whoever answers for it begins
         * here. The descriptors stay ours; arg is jail_start()'s. */
        int (*attend)(const Network *network, int pidfd, void *arg, Error *reterr);
} JailSpec;

/* Its root directory is a template's as a whole: one lower layer for "/". */
static inline bool jail_has_template(const JailSpec *spec) {
        return spec->template_dir || (spec->trees && spec->trees->layer_fd >= 0);
}

/* Packages are installed and users made in it: by its user, or by whom that becomes. */
static inline bool jail_is_for_root(const JailSpec *spec) {
        return spec->uid == 0 || spec->furnished;
}

/* Somebody may have lived on the writable layer before: nothing in it can be trusted, and what is there is not made again. */
static inline bool jail_is_kept(const JailSpec *spec) {
        return spec->trees && spec->trees->disk_fd >= 0;
}

/* Its /etc is an overlay of one that all share; else it is put together inside, and goes on so in the next life of a disk that began so. */
static inline bool jail_has_shared_etc(const JailSpec *spec) {
        return spec->detached && spec->etc_fd >= 0 && !jail_has_template(spec) && (spec->furnished || !jail_is_kept(spec));
}

static inline size_t jail_n_volumes(const JailSpec *spec) {
        return spec->trees ? spec->trees->n_volumes : 0;
}

/* What a guest of a former life may have made impossible, in its own root: that is its own loss, and no reason not to start. Also a file
 * that is there already. */
static inline bool jail_forgives(const JailSpec *spec, int r) {
        return jail_is_kept(spec) && (r == -EEXIST || r == -ENOTDIR || r == -EISDIR || r == -ELOOP || r == -ENOENT || r == -ENOTEMPTY ||
                                                     r == -EDQUOT || r == -ENOSPC);
}
