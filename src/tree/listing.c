#include "tree/listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fd.h"

int listing_add(TreeListing *l, const char *name) {
        if (ARRAY_RESERVE(l->names, l->room, l->n + 1) < 0)
                return -ENOMEM;
        l->names[l->n] = strdup(name);
        return l->names[l->n] ? (l->n++, 0) : -ENOMEM;
}

int listing_add_directory(TreeListing *l, int dirfd) {
        int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
        DIR *directory = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;

        if (!directory) {
                r = -errno;
                (void) fd_close(fd);
                return r;
        }
        for (errno = 0; r >= 0 && (entry = readdir(directory)); errno = 0)
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        r = listing_add(l, entry->d_name);
        if (r >= 0 && errno > 0)
                r = -errno;
        (void) closedir(directory);
        return r;
}

static int listing_by_name(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

void listing_sort(TreeListing *l) {
        size_t kept = 0;

        if (l->n > 0)
                qsort(l->names, l->n, sizeof(*l->names), listing_by_name);
        for (size_t i = 0; i < l->n; i++)
                if (kept > 0 && strcmp(l->names[kept - 1], l->names[i]) == 0)
                        free(l->names[i]);
                else
                        l->names[kept++] = l->names[i];
        l->n = kept;
}

void tree_listing_done(TreeListing *l) {
        for (size_t i = 0; i < l->n; i++)
                free(l->names[i]);
        free(l->names);
        *l = (TreeListing) { 0 };
}
