#include "jail/keep.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"

#define DEPTH_MAX 16 /* cove and the kernel make no deep trees there */

static bool is_scaffolding(const char *name) {
        return strncmp(name, "lower-", 6) == 0 || strncmp(name, "work-", 5) == 0 || strcmp(name, "dev") == 0 || strcmp(name, "empty") == 0;
}

int keep_tidy(int fd, bool everything) {
        _cleanup_directory_ DIR *directory = directory_open(fd, ".");
        const struct dirent *entry;

        if (!directory)
                return -errno;
        while ((entry = directory_next(directory)))
                if (entry->d_name[0] != '.' && (everything || is_scaffolding(entry->d_name)))
                        (void) directory_remove(fd, entry->d_name, DEPTH_MAX);
        (void) unlinkat(fd, "shm", AT_REMOVEDIR); /* fails if the guest has left something there */
        if (everything)
                (void) fchown(fd, geteuid(), getegid());
        return 0;
}
