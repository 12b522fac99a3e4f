/* listing.h: all of a list that the daemon gives in pages.
 *
 * A listing is whole or it is an error. */
#pragma once

#include "client/client.h"

typedef struct Listing {
        Answer *pages;
        size_t n_pages;
        const char *key;        /* the member that has a page's rows; NULL: the page is a list */
        size_t page, row;       /* of listing_row() */
} Listing;

/* Tells what went wrong. u has everything but the cursor. */
int listing_get(const Place *p, Url *u, const char *key, Listing *ret);
int listing_sandboxes(const Place *p, Listing *ret);
void listing_done(Listing *l);
#define _cleanup_listing_ _cleanup_(listing_done)

/* The pages' JSON as one array, on stdout. */
void listing_print_json(const Listing *l);

/* One row after the other; NULL: that was all, and the next is the first again. */
const json_t *listing_row(Listing *l);

/* The name of a sandbox, or its id. */
const char *sandbox_label(const json_t *sandbox);
