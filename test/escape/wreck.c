/* wreck.c: destroys the file system as seen from inside. The runner compares the host before and after.
 *
 * Goes over all of it but spends a bounded time: enough to reach every part, not to copy up gigabytes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define SECONDS_PER_DIRECTORY 0.7

typedef enum Harm {
        HARM_CHMOD,
        HARM_CHOWN,
        HARM_REMOVE,
        HARM_OVERWRITE,
} Harm;

static double deadline;
static unsigned long n_done;

static double now(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static int overwrite(int dirfd, const char *name) {
        int fd = openat(dirfd, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        ssize_t n;

        if (fd < 0)
                return -1;
        n = write(fd, "wrecked\n", 8);
        (void) close(fd);
        return n == 8 ? 0 : -1;
}

static int harm_one(int dirfd, const char *name, bool is_directory, Harm harm) {
        switch (harm) {
        case HARM_CHMOD: return fchmodat(dirfd, name, 0777, 0);
        case HARM_CHOWN: return fchownat(dirfd, name, 1000, 1000, AT_SYMLINK_NOFOLLOW);
        case HARM_REMOVE: return unlinkat(dirfd, name, is_directory ? AT_REMOVEDIR : 0);
        case HARM_OVERWRITE: return is_directory ? -1 : overwrite(dirfd, name);
        }
        return -1;
}

static void harm_below(int dirfd, const char *name, Harm harm) {
        int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct dirent *entry;
        DIR *dir;

        dir = fd < 0 ? NULL : fdopendir(fd);
        while (dir && now() < deadline && (entry = readdir(dir))) {
                bool is_directory = entry->d_type == DT_DIR;

                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                if (is_directory)
                        harm_below(fd, entry->d_name, harm);
                n_done += harm_one(fd, entry->d_name, is_directory, harm) == 0;
        }
        if (dir)
                (void) closedir(dir);
}

/* Directories that many programs stand on get a time of their own. */
static Verdict harm_all(Harm harm) {
        static const char *const first[] = { "/dev", "/mnt", "/workspace", "/tmp", "/run", "/etc", "/var",
                "/usr/bin", "/usr/lib", "/usr/share", "/proc/sys", "/" };

        n_done = 0;
        for (size_t i = 0; i < ELEMENTSOF(first); i++) {
                deadline = now() + SECONDS_PER_DIRECTORY;
                harm_below(AT_FDCWD, first[i], harm);
        }
        return n_done == 0 && getuid() == 0 ? broken("guest root could not harm even its own overlay: %m")
                                            : HELD;
}

static Verdict try_chmod(char **args) {
        return harm_all(HARM_CHMOD);
}

static Verdict try_chown(char **args) {
        return harm_all(HARM_CHOWN);
}

static Verdict try_remove(char **args) {
        return harm_all(HARM_REMOVE);
}

static Verdict try_overwrite(char **args) {
        return harm_all(HARM_OVERWRITE);
}

/* clang-format off */
const Attempt wreck_attempts[] = {
        { "wreck-chmod", try_chmod, AS_BOTH | WRECKS,
          "chmod -R 777 / changes the overlay only" },
        { "wreck-chown", try_chown, AS_BOTH | WRECKS,
          "chown -R user / changes the overlay only" },
        { "wreck-overwrite", try_overwrite, AS_BOTH | WRECKS,
          "emptying every file changes the overlay only" },
        { "wreck-remove", try_remove, AS_BOTH | WRECKS,
          "rm -rf / removes the overlay only: the host stays as it was to the byte" },
        { NULL },
};
/* clang-format on */
