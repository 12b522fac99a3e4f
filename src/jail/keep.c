#include "jail/keep.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

static int remove_below(int dirfd, const char *name) {
        _cleanup_close_ int fd = -EBADF;
        struct dirent *entry;
        DIR *directory;

        if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
                return 0;
        fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        directory = fdopendir(dup(fd));
        if (!directory)
                return -errno;
        while ((entry = readdir(directory)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        (void) remove_below(fd, entry->d_name);
        (void) closedir(directory);
        return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static bool is_scaffolding(const char *name) {
        static const char *const names[] = { "lower-", "work-", "dev", "shm" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strncmp(name, names[i], strlen(names[i])) == 0)
                        return true;
        return false;
}

int keep_tidy(const char *path, bool everything) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct dirent *entry;
        DIR *directory;

        if (fd < 0)
                return -errno;
        directory = fdopendir(dup(fd));
        if (!directory)
                return -errno;
        while ((entry = readdir(directory)))
                if (entry->d_name[0] != '.' && (everything || is_scaffolding(entry->d_name)))
                        (void) remove_below(fd, entry->d_name);
        (void) closedir(directory);
        if (everything)
                (void) fchown(fd, geteuid(), getegid());
        return 0;
}
