/* page.h: pages of a listing, and the cursor that leads from one to the next.
 *
 * A listing in the order of a moment goes on behind a place: the moment and the id of the last object that was told, whether that is still
 * there or not. Other listings go on at a number.
 * Must not know: what is listed, how a surface calls its cursors. */
#pragma once

#include "api/surface.h"

#define API_PLACE_BYTES 64 /* of one as text */

typedef struct ApiPlace {
        usec_t at;
        char id[SANDBOX_ID_LENGTH + 1]; /* also as long as those of snapshots and volumes */
} ApiPlace;

/* order: '-' or '+', for surfaces that list both ways. -EINVAL: api_place_print() has never written that. */
int api_place_read(const char *text, char order, ApiPlace *ret);
void api_place_print(usec_t at, const char *id, char order, char ret[static API_PLACE_BYTES]);
int api_place_compare(usec_t at, const char *id, const ApiPlace *place); /* as strcmp() */

/* The query "cursor" of the native surface: 1 there; 0 absent, and the place is the beginning; negative: has been answered (400). */
int api_page_cursor(ApiRequest *q, ApiPlace *ret);
int api_page_next(ApiRequest *q, usec_t at, const char *id); /* X-Next-Cursor */
int api_page_next_number(ApiRequest *q, uint64_t number);
