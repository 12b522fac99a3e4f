/* listing.h: the names in a directory, sorted by bytes. Must not know: what they are for. */
#pragma once

#include <stddef.h>

typedef struct Listing {
        char **names;
        size_t n, room;
} Listing;

int listing_add(Listing *l, const char *name);
int listing_add_directory(Listing *l, int dirfd); /* all of it, beside what is there; the descriptor stays the caller's */
void listing_sort(Listing *l);                    /* and each name once */
void listing_done(Listing *l);
#define _cleanup_listing_ _cleanup_(listing_done)
