/* native.h: the native surface, and what all of its files share.
 *
 * A file has handlers and, at its end, the table of their routes; routes.c lists the tables. A handler reads: parse, ask the object, answer
 * (answer.h); rights, {id} and {eid} are settled before it.
 * Must not know: libmicrohttpd, how sandboxes are made. */
#pragma once

#include "api/surface.h"

extern const ApiSurface native_surface;
extern const ApiRoute *const native_tables[];

/* What a JSON body may have at most; what streams has no ceiling of its own. */
#define NATIVE_BODY_MAX  ((size_t) 4 << 20)
#define NATIVE_STDIN_MAX ((size_t) 16 << 20) /* of one request */

/* admin/secrets.c: 422 with every variable whose secret is missing; of both environments, the second over the first, which may be NULL. */
int native_secrets_missing(ApiRequest *q, const char *tenant, const Strv *below, const Strv *env, const char *message);
