/* router.h: which line of a table a request is for.
 *
 * Paths are compared part by part as they come; a {parameter} takes one part, decoded: UTF-8, without a NUL, not empty.
 * A part that is written out in the table goes before a parameter, wherever it stands.
 * Must not know: handlers, HTTP beyond method and path. */
#pragma once

#include "api/surface.h"

typedef struct RouterMatch {
        const ApiRoute *route;
        char *parameters[API_PARAMETERS_MAX]; /* owned; NULL beyond those that the path has */
        char allow[64];                       /* methods that the path has, for 405: "GET, HEAD" */
} RouterMatch;

void router_match_done(RouterMatch *m);

/* 0: found. -ENOENT: no such path. -EPERM: not with this method; allow says which. -EOPNOTSUPP: a method that nobody knows.
 * -EILSEQ: a parameter cannot be decoded. */
int router_find(const ApiRoute *const *tables, const char *method, const char *path, RouterMatch *ret);

/* The place of a parameter in the route's path, from 0; -ENOENT: it has none of that name. */
int router_parameter_place(const ApiRoute *route, const char *name);

/* A port, as a part of a name or a path has it. -EINVAL: these n letters are none. */
int router_port(const char *text, size_t n, uint16_t *ret);
