/* answer.h: helpers for answers: pages of a listing, deletions, missing rooms, locations of objects.
 *
 * Handlers answer with api_show(): the route names the shape, so that answers match the documentation.
 * Must not know: any object. */
#pragma once

#include "api/native/native.h"
#include "api/page.h"

/* Returns `room`, a part of the daemon that may be missing. NULL: answered with 501 and these words. */
void *native_room(ApiRequest *q, void *room, const char *words);

/* The tenant of the objects: the caller's own ("": none), or ?tenant= of an admin. NULL: answered. */
const char *native_tenant(ApiRequest *q);

/* A page of a listing. The caller adds objects in order; the first one that does not fit is refused, and
 * marks that there are more. */
typedef struct NativePage {
        ApiRequest *q;
        const Shape *shape;    /* of one object; NULL: the route's answer */
        uint64_t limit, most;  /* the default and the maximum of ?limit= */
        uint64_t cursor_min, cursor_max;
        bool counts;           /* the cursor is the number of objects on the earlier pages */
        uint64_t from, n_seen; /* from: the cursor, if it is a number */
        json_t *list;
        char next[API_PLACE_BYTES]; /* the cursor after the last object */
        bool more;
} NativePage;

#define NATIVE_PAGE(request, standard, maximum, ...) { .q = (request), .limit = (standard), .most = (maximum), __VA_ARGS__ }
/* Without pages. */
#define NATIVE_ALL(request, ...)                     { .q = (request), .limit = UINT64_MAX, .list = json_array(), __VA_ARGS__ }

void native_page_done(NativePage *p);
#define _cleanup_page_ _cleanup_(native_page_done)

/* Reads ?limit= and, if cursor_max is set, ?cursor=. Negative: answered. */
int native_page_begin(NativePage *p);
/* -ECANCELED: the page is full; -ENOMEM. `place`, or time and id: the cursor after this object. */
int native_page_add(NativePage *p, const void *object, uint64_t place);
int native_page_add_at(NativePage *p, const void *object, usec_t at, const char *id);
int native_page_put(NativePage *p, json_t *object, uint64_t place); /* the same for an object as JSON; takes it */
void native_page_go_on(NativePage *p, uint64_t place);              /* there may be more after that place */
/* Answers with the page. r: the result of the listing; a full page is not a failure. */
void native_page_answer(NativePage *p, int r);
/* The same, but as an object in the shape of the route's answer, whose fields are members of NativePage. */
void native_page_show(NativePage *p, int r);

/* {id or name, deleted}. `what` belongs to the path or the object. */
typedef struct NativeDeleted {
        const char *what;
        bool deleted;
} NativeDeleted;
extern const Shape native_deleted_answer, native_deleted_name_answer;
/* r and text: the result of the deletion. */
void native_answer_deleted(ApiRequest *q, const char *what, int r, const char *text);

/* The Location of an object: /api/COLLECTION/ID. */
void native_add_location(ApiRequest *q, const char *collection, const char *id);
int native_show_at(ApiRequest *q, unsigned status, const char *collection, const char *id, const void *object);

/* native_begun(): the result of starting a core call that answers later. native_ended(): its result, the
 * object or an error. */
void native_begun(ApiRequest *q, int r, const Error *error);
void native_ended(ApiRequest *q, const void *object, const Error *error);

/* Formats that several answers use. */
json_t *native_show_true(const ShapeField *f, const void *object);
json_t *native_show_presence(const ShapeField *f, const void *object); /* for a bool: "ready" or "missing" */
extern const ShapeNames native_presence;

/* sandbox/sandbox-json.c: objects in the answers of several areas. */
extern const Shape native_sandbox_answer, native_execution_answer, native_execution_result_answer;

/* Parses "a,b" in ?name= into bits; 0: absent. Negative: answered, with the valid names. */
int native_query_bits(ApiRequest *q, const char *name, const ShapeNames *names, bool or_nothing /* accept an empty value, as no filter */, unsigned *ret);
