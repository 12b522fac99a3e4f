#include "jail/keep.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

#define DEPTH_MAX 16 /* what cove and the kernel make there is not deep */

static int keep_remove_below(int dirfd, const char *name, unsigned depth) {
        struct dirent *entry;
        DIR *directory;
        int fd;

        if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (depth == 0)
                return -ELOOP;
        fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        directory = fdopendir(fd);
        if (!directory) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        while ((entry = readdir(directory)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        (void) keep_remove_below(fd, entry->d_name, depth - 1);
        (void) closedir(directory);
        return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static bool is_scaffolding(const char *name) {
        return strncmp(name, "lower-", 6) == 0 || strncmp(name, "work-", 5) == 0 || strcmp(name, "dev") == 0;
}

int keep_tidy(int fd, bool everything) {
        struct dirent *entry;
        DIR *directory;
        int own;

        own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (own < 0)
                return -errno;
        directory = fdopendir(own);
        if (!directory) {
                (void) fd_close(own);
                return -ENOMEM;
        }
        while ((entry = readdir(directory)))
                if (entry->d_name[0] != '.' && (everything || is_scaffolding(entry->d_name)))
                        (void) keep_remove_below(fd, entry->d_name, DEPTH_MAX);
        (void) closedir(directory);
        (void) unlinkat(fd, "shm", AT_REMOVEDIR); /* stays when the guest has left something there */
        if (everything)
                (void) fchown(fd, geteuid(), getegid());
        return 0;
}
