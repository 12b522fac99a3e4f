/* listing.h: all sandboxes, or those that a filter leaves, however many pages that takes.
 *
 * A listing is whole or it is an error. */
#pragma once

#include "base/strv.h"
#include "client/client.h"

typedef struct ListFilter {
        const char *status, *agent_type, *task_id, *name;
        Strv metadata; /* KEY=VALUE */
} ListFilter;

typedef struct Listing {
        Answer *pages;
        size_t n_pages;
} Listing;

/* Tells what went wrong. filter NULL: all. */
int listing_get(const Place *p, const ListFilter *filter, Listing *ret);
void listing_done(Listing *l);
#define _cleanup_listing_ _cleanup_(listing_done)

/* The pages' JSON as one array, on stdout. */
void listing_print_json(const Listing *l);

/* Calls it for each; a negative answer ends it. */
int listing_each(const Listing *l, int (*each)(const json_t *sandbox, void *userdata), void *userdata);

/* The name of a sandbox, or its id. */
const char *sandbox_label(const json_t *sandbox);
