/* page.h: pagination: pages of a listing, and the cursor from one page to the next.
 *
 * A listing in the order of time continues after a place: the time and id of the last object returned,
 * whether or not that still exists. Other listings continue at a number.
 * Must not know: what is listed, how a surface names its cursors. */
#pragma once

#include "api/surface.h"

#define API_PLACE_BYTES 64 /* size of a place as text */

typedef struct ApiPlace {
        usec_t at;
        char id[SANDBOX_ID_LENGTH + 1]; /* also sufficient for ids of snapshots and volumes */
} ApiPlace;

/* order: '-' or '+', for surfaces that list in both directions. -EINVAL: not written by api_place_print(). */
int api_place_read(const char *text, char order, ApiPlace *ret);
void api_place_print(usec_t at, const char *id, char order, char ret[static API_PLACE_BYTES]);
int api_place_compare(usec_t at, const char *id, const ApiPlace *place); /* as strcmp() */

/* Reads the native surface's query "cursor": 1 if present; 0 if absent, and the place is the beginning;
 * negative: has been answered (400). */
int api_page_cursor(ApiRequest *q, ApiPlace *ret);
int api_page_next(ApiRequest *q, usec_t at, const char *id); /* sets X-Next-Cursor */
int api_page_next_number(ApiRequest *q, uint64_t number);
