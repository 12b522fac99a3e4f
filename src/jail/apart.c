#include "jail/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/tree.h"

#define APART_ATTRIBUTES (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

#define HOLD_PAUSE 5000 /* µs */

#define VALUE_MAX 255 /* the kernel's limit for a mount option, in bytes */

/* A colon ends a layer's path unless escaped by a backslash. The author of a template chooses its directory names. */
static size_t put_layer(char *ret, const char *path) {
        size_t n = 0;

        for (; *path; path++) {
                if (*path == ':' || *path == '\\')
                        ret[n++] = '\\';
                ret[n++] = *path;
        }
        ret[n] = '\0';
        return n;
}

int apart_make(const char *directory, const char *empty) {
        char layers[4 * PATH_MAX]; /* fsconfig() takes VALUE_MAX of them */
        size_t n;
        const FsOption options[] = {
                { "lowerdir",  layers },
                { "userxattr", NULL   }, /* made by guest root, which may not read trusted.* */
        };

        if (strlen(directory) >= PATH_MAX || strlen(empty) >= PATH_MAX)
                return -ENAMETOOLONG;
        n = put_layer(layers, directory);
        layers[n++] = ':';
        n += put_layer(layers + n, empty);
        if (n > VALUE_MAX)
                return -ENAMETOOLONG;
        return tree_make("overlay", options, ELEMENTSOF(options), APART_ATTRIBUTES);
}

int apart_attach(const char *directory, const char *empty, const char *place) {
        _cleanup_close_ int tree = apart_make(directory, empty);

        return tree < 0 ? tree : tree_attach(tree, AT_FDCWD, place);
}

int apart_cover(const char *directory, const char *empty) {
        return apart_attach(directory, empty, directory);
}

/* The wait is bounded: a process that holds the lock on purpose could otherwise keep every sandbox from starting. */
int apart_hold_anonymous(unsigned tries, bool *ret_has_all) {
        int fd = eventfd(0, EFD_CLOEXEC);
        bool has_all = false;

        if (fd < 0)
                return -errno;
        for (unsigned i = 0; i < tries && !has_all; i++) {
                struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
                bool has_flock;

                if (i > 0)
                        (void) usleep(HOLD_PAUSE);
                has_flock = flock(fd, LOCK_SH | LOCK_NB) >= 0;
                has_all = fcntl(fd, F_OFD_SETLK, &all) >= 0 && has_flock; /* unlike F_SETLK, released with the descriptor and not with the process */
        }
        *ret_has_all = has_all;
        return fd;
}
