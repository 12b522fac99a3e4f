/* native.h: the native surface: definitions for all of its files.
 *
 * Each file has handlers and, at its end, the table of their routes; routes.c lists the tables. A handler
 * parses, calls the object and answers (answer.h). Access, {id} and {eid} are resolved before it is called.
 * Must not know: libmicrohttpd, how sandboxes are made. */
#pragma once

#include "api/surface.h"

extern const ApiSurface native_surface;
extern const ApiRoute *const native_tables[];

/* The maximum of a JSON body. Streams have no limit here. */
#define NATIVE_BODY_MAX  ((size_t) 4 << 20)
#define NATIVE_STDIN_MAX ((size_t) 16 << 20) /* per request */

/* admin/secrets.c: answers 422 with all variables whose secrets are missing. `env` overrides `below`, which
 * may be NULL. */
int native_secrets_missing(ApiRequest *q, const char *tenant, const Strv *below, const Strv *env, const char *message);
