/* listing.h: the names in a directory, sorted by bytes. Must not know: what the names are for. */
#pragma once

#include <stddef.h>

typedef struct TreeListing {
        char **names;
        size_t n, room;
} TreeListing;

int listing_add(TreeListing *l, const char *name);
int listing_add_directory(TreeListing *l, int dirfd); /* appends all its names; the descriptor stays the caller's */
void listing_sort(TreeListing *l);                    /* also removes duplicates */
void tree_listing_done(TreeListing *l);
#define _cleanup_listing_ _cleanup_(tree_listing_done)
