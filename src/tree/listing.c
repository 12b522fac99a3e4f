#include "tree/listing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/directory.h"
#include "base/fd.h"

int listing_add(TreeListing *l, const char *name) {
        if (ARRAY_RESERVE(l->names, l->room, l->n + 1) < 0)
                return -ENOMEM;
        l->names[l->n] = strdup(name);
        return l->names[l->n] ? (l->n++, 0) : -ENOMEM;
}

int listing_add_directory(TreeListing *l, int dirfd) {
        _cleanup_directory_ DIR *directory = directory_open(dirfd, ".");
        const struct dirent *entry;
        int r = directory ? 0 : -errno;

        while (r >= 0 && (entry = directory_next(directory)))
                r = listing_add(l, entry->d_name);
        return r < 0 ? r : -errno;
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
