/* answer.h: what the answers of many handlers have in common: pages of a listing, what has gone, what is not there, where an object is.
 *
 * A handler answers by api_show(): the route names the shape, so that what is answered is what is documented.
 * Must not know: any object. */
#pragma once

#include "api/native/native.h"
#include "api/page.h"

/* A part of the daemon that may be missing: NULL has answered 501, with these words. */
void *native_room(ApiRequest *q, void *room, const char *words);

/* Whose objects: the caller's own tenant ("": none); an admin may name another by ?tenant=. NULL: answered. */
const char *native_tenant(ApiRequest *q);

/* A page of a listing. Its objects are added in their order, one more than fit is refused, and says that there are more. */
typedef struct NativePage {
        ApiRequest *q;
        const Shape *shape;    /* of one object; NULL: the route's answer */
        uint64_t limit, most;  /* what ?limit= says instead, and may say */
        uint64_t cursor_min, cursor_max;
        bool counts;           /* the cursor is how many objects the pages before have told */
        uint64_t from, n_seen; /* the cursor, a number */
        json_t *list;
        char next[API_PLACE_BYTES]; /* the cursor behind the last object */
        bool more;
} NativePage;

#define NATIVE_PAGE(request, standard, maximum, ...) { .q = (request), .limit = (standard), .most = (maximum), __VA_ARGS__ }
#define NATIVE_ALL(request, ...)                     { .q = (request), .limit = UINT64_MAX, .list = json_array(), __VA_ARGS__ } /* no pages */

void native_page_done(NativePage *p);
#define _cleanup_page_ _cleanup_(native_page_done)

/* Reads ?limit= and, with cursor_max, ?cursor=. Negative: answered. */
int native_page_begin(NativePage *p);
/* -ECANCELED: the page is full; -ENOMEM. `place`, or moment and id: where the next page goes on, behind this object. */
int native_page_add(NativePage *p, const void *object, uint64_t place);
int native_page_add_at(NativePage *p, const void *object, usec_t at, const char *id);
int native_page_put(NativePage *p, json_t *object, uint64_t place); /* the same of what is shown already; takes it */
void native_page_go_on(NativePage *p, uint64_t place);              /* there may be more, behind that place */
/* r: how the listing ended; a full page is no failure. */
void native_page_answer(NativePage *p, int r);
/* The same as an object: by the route's answer, whose fields are members of the page. */
void native_page_show(NativePage *p, int r);

/* {id or name, deleted}; `what` is of the path, or of the object. */
typedef struct NativeDeleted {
        const char *what;
        bool deleted;
} NativeDeleted;
extern const Shape native_deleted_answer, native_deleted_name_answer;
/* r: what removing it said, with its text. */
void native_answer_deleted(ApiRequest *q, const char *what, int r, const char *text);

/* Where an object is: /api/COLLECTION/ID. */
void native_add_location(ApiRequest *q, const char *collection, const char *id);
int native_show_at(ApiRequest *q, unsigned status, const char *collection, const char *id, const void *object);

/* A call of the core that answers later, or has failed at once; and what it then says: the object, or an error. */
void native_begun(ApiRequest *q, int r, const Error *error);
void native_ended(ApiRequest *q, const void *object, const Error *error);

/* Forms that several answers have. */
json_t *native_show_true(const ShapeField *f, const void *object);
json_t *native_show_presence(const ShapeField *f, const void *object); /* of a bool: "ready", or "missing" */
extern const ShapeNames native_presence;

/* sandbox/sandbox-json.c: objects that several areas answer with. */
extern const Shape native_sandbox_answer, native_execution_answer, native_execution_result_answer;

/* "a,b" of ?name= as bits; 0: none was given. Negative: answered, with the names that there are. */
int native_query_bits(ApiRequest *q, const char *name, const ShapeNames *names, bool or_nothing /* is no filter, and no mistake */, unsigned *ret);
