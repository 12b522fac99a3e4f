/* strays.c: files of the state directory that no record explains.
 *
 * A row is written before any file of its sandbox is made, and deleted after the files: so within one turn of the
 * loop, a file without a row belongs to no sandbox. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/internal.h"
#include "core/quarantine.h"
#include "core/reap.h"
#include "core/run-names.h"

#define PATH_BYTES 320 /* a file name of maximum length, and its directory */

static bool is_stray_socket(Manager *m, const char *name);

static const struct {
        const char *name;
        bool (*is_stray)(Manager *m, const char *name);
} places[] = {
        { "box", journal_is_stray },
        { "run", is_stray_socket  },
};

struct Strays {
        Manager *manager;
        size_t place;
        DIR *directory;
};

bool run_name_is_sandbox(const char *name, char ret_id[static ID_LENGTH + 1]) {
        if (strlen(name) != ID_LENGTH + strlen(RUN_SOCKET_SUFFIX) || strcmp(name + ID_LENGTH, RUN_SOCKET_SUFFIX) != 0)
                return false;
        memcpy(ret_id, name, ID_LENGTH);
        ret_id[ID_LENGTH] = '\0';
        return id_is_valid(ret_id);
}

static bool is_stray_socket(Manager *m, const char *name) {
        char id[SANDBOX_ID_LENGTH + 1];
        const Sandbox *sb;

        if (!run_name_is_sandbox(name, id))
                return false;
        sb = manager_by_id(m, id);
        return !m->doubts_store && (!sb || sandbox_status_is_ended(sb->status)) && !quarantine_find(m, QUARANTINE_SANDBOX, id);
}

static int open_place(const Manager *m, size_t place) {
        _cleanup_close_ int state = open(m->config.state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        int fd;

        if (state < 0)
                return -errno;
        fd = openat(state, places[place].name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int strays_open(Manager *m, Strays **ret) {
        Strays *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->manager = m;
        *ret = s;
        return 0;
}

Strays *strays_free(Strays *s) {
        if (!s)
                return NULL;
        if (s->directory)
                (void) closedir(s->directory);
        free(s);
        return NULL;
}

/* 0: it does not exist, so there is nothing in it. */
static int enter_place(Strays *s) {
        int fd = open_place(s->manager, s->place);

        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        s->directory = fdopendir(fd);
        if (!s->directory) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        return 1;
}

static void leave_place(Strays *s) {
        if (s->directory)
                (void) closedir(s->directory);
        s->directory = NULL;
        s->place++;
}

int strays_step(Strays *s, unsigned n, void (*found)(const char *path, void *userdata), void *userdata) {
        struct dirent *entry;
        char path[PATH_BYTES];
        int r;

        while (n > 0 && s->place < ELEMENTSOF(places)) {
                if (!s->directory) {
                        r = enter_place(s);
                        if (r < 0)
                                return r;
                        if (r == 0) {
                                leave_place(s);
                                continue;
                        }
                }
                entry = readdir(s->directory);
                if (!entry) {
                        leave_place(s);
                        continue;
                }
                n--;
                if (entry->d_name[0] == '.' || !places[s->place].is_stray(s->manager, entry->d_name))
                        continue;
                (void) snprintf(path, sizeof(path), "%s/%s", places[s->place].name, entry->d_name);
                found(path, userdata);
        }
        return s->place < ELEMENTSOF(places);
}

int stray_remove(Manager *m, const char *path) {
        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                size_t n = strlen(places[i].name);
                _cleanup_close_ int fd = -EBADF;

                if (strncmp(path, places[i].name, n) != 0 || path[n] != '/' || strchr(path + n + 1, '/'))
                        continue;
                if (!places[i].is_stray(m, path + n + 1))
                        return -EBUSY;
                fd = open_place(m, i);
                if (fd < 0)
                        return fd;
                if (unlinkat(fd, path + n + 1, 0) < 0 && errno != ENOENT)
                        return -errno;
                return 0;
        }
        return -EINVAL;
}
