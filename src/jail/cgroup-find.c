/* cgroup-find.c: finds lasting groups again by name. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/directory.h"
#include "base/fd.h"
#include "base/id.h"
#include "jail/cgroup-ops.h"
#include "jail/ids.h"

#define INSTANCE_MAX 32
#define LIST_ROOM    256 /* initial */

typedef struct IdList {
        char (*ids)[JAIL_ID_LENGTH + 1];
        size_t n, room;
} IdList;

bool cgroup_instance_is_valid(const char *instance) {
        size_t n = strspn(instance, "abcdefghijklmnopqrstuvwxyz0123456789_-");

        return n > 0 && n <= INSTANCE_MAX && instance[n] == '\0';
}

static bool cgroup_find_is_directory(const char *path) {
        struct stat st;

        return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool cgroup_find_in(Cgroup *cg, const char *name, bool near_own) {
        CgroupBase bases[CGROUP_BASES_MAX];
        size_t n = cgroup_ops(cg->version)->bases(near_own, bases);
        bool found = false;

        for (size_t i = 0; i < n; i++) {
                CgroupController c = bases[i].controller;
                char path[CGROUP_PATH_MAX];

                (void) snprintf(path, sizeof(path), "%s/%s", bases[i].path, name);
                if (cg->dirs[c].path[0] || !cgroup_find_is_directory(path))
                        continue;
                memcpy(cg->dirs[c].path, path, sizeof(path));
                found = true;
        }
        return found;
}

int cgroup_find(const char *instance, const char *id, Cgroup *ret) {
        Cgroup cg = { .version = cgroup_detect(), .lasting = true };
        char name[64];

        if (cg.version == CGROUP_NONE)
                return -ENOENT;
        if (!cgroup_instance_is_valid(instance) || !id_is_valid(id))
                return -EINVAL;
        for (size_t i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
                cg.dirs[i].fd = cg.dirs[i].enter_fd = -EBADF;

        (void) snprintf(name, sizeof(name), "cove-%s-%s", instance, id);
        if (!cgroup_find_in(&cg, name, /* near_own= */ false) && !cgroup_find_in(&cg, name, /* near_own= */ true))
                return -ENOENT;
        *ret = cg;
        return 0;
}

int cgroup_open(const char *instance, const char *id, Cgroup *ret) {
        Cgroup cg;
        int r = cgroup_find(instance, id, &cg);

        if (r < 0)
                return r;
        for (CgroupController c = 0; c < _CGROUP_CONTROLLER_MAX; c++) {
                if (!cg.dirs[c].path[0])
                        continue;
                cg.dirs[c].fd = open(cg.dirs[c].path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (cg.dirs[c].fd < 0) {
                        r = -errno;
                        cgroup_close(&cg);
                        return r;
                }
        }
        cg.controllers = (1u << _CGROUP_CONTROLLER_MAX) - 1; /* reads of a missing controller fail */
        *ret = cg;
        return 0;
}

static int list_add(IdList *list, const char *id) {
        if (ARRAY_RESERVE(list->ids, list->room, list->n + 1) < 0)
                return -ENOMEM;
        memcpy(list->ids[list->n++], id, JAIL_ID_LENGTH + 1);
        return 0;
}

/* A missing hierarchy has nothing to list. A hierarchy that cannot be read is an error: the list would be
 * incomplete. */
static int list_base(const char *base, const char *prefix, IdList *list) {
        _cleanup_directory_ DIR *directory = directory_open(AT_FDCWD, base);
        const struct dirent *entry;
        int r = 0;

        if (!directory)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
        while (r >= 0 && (entry = directory_next(directory))) {
                const char *id = entry->d_name + strlen(prefix);

                if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && id_is_valid(id))
                        r = list_add(list, id);
        }
        return r < 0 ? r : -errno;
}

static int cgroup_find_compare_ids(const void *a, const void *b) {
        return strcmp(a, b);
}

int cgroup_list(const char *instance, int (*found)(const char *id, void *userdata), void *userdata) {
        CgroupVersion version = cgroup_detect();
        CgroupBase bases[2 * CGROUP_BASES_MAX];
        IdList list = { 0 };
        char prefix[64];
        size_t n;
        int r = 0;

        if (version == CGROUP_NONE)
                return 0;
        if (!cgroup_instance_is_valid(instance))
                return -EINVAL;
        (void) snprintf(prefix, sizeof(prefix), "cove-%s-", instance);

        n = cgroup_ops(version)->bases(/* near_own= */ false, bases);
        if (geteuid() != 0)
                n += cgroup_ops(version)->bases(/* near_own= */ true, bases + n);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = list_base(bases[i].path, prefix, &list);

        if (list.n > 1)
                qsort(list.ids, list.n, sizeof(list.ids[0]), cgroup_find_compare_ids);
        for (size_t i = 0; i < list.n && r >= 0; i++)
                if (i == 0 || strcmp(list.ids[i], list.ids[i - 1]) != 0)
                        r = found(list.ids[i], userdata);
        free(list.ids);
        return r;
}
