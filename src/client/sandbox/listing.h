/* listing.h: collects all pages of a listing from the daemon.
 *
 * A listing is complete, or it is an error. */
#pragma once

#include "client/client.h"

typedef struct Listing {
        Answer *pages;
        size_t n_pages;
        const char *key;        /* the member that contains a page's rows; NULL: the page is a list */
        size_t page, row;       /* position of listing_row() */
} Listing;

/* Reports failures. u: everything except the cursor. */
int listing_get(const Place *p, Url *u, const char *key, Listing *ret);
int listing_sandboxes(const Place *p, Listing *ret);
void listing_done(Listing *l);
#define _cleanup_listing_ _cleanup_(listing_done)

/* Prints the rows of all pages as one JSON array to stdout. */
void listing_print_json(const Listing *l);

/* Returns the rows one by one. NULL: the end; the next call starts again. */
const json_t *listing_row(Listing *l);

/* The name of a sandbox, or its id if it has none. */
const char *sandbox_label(const json_t *sandbox);
