/* router.h: finds the route of a request.
 *
 * Paths are compared component by component, undecoded. A {parameter} matches one component, which is
 * decoded: UTF-8, no NUL, not empty. If several routes match, the one with the most literal components before
 * its first parameter wins, regardless of their order in the table.
 * Must not know: handlers, HTTP beyond method and path. */
#pragma once

#include "api/surface.h"

typedef struct RouterMatch {
        const ApiRoute *route;
        char *parameters[API_PARAMETERS_MAX]; /* owned; the unused ones are NULL */
        char allow[64];                       /* methods of the path, for 405: "GET, HEAD" */
} RouterMatch;

void router_match_done(RouterMatch *m);

/* Returns 0 if found. -ENOENT: no such path. -EPERM: wrong method, see allow. -EOPNOTSUPP: unknown method.
 * -EILSEQ: a parameter cannot be decoded. */
int router_find(const ApiRoute *const *tables, const char *method, const char *path, RouterMatch *ret);

/* The index of a parameter in the route's path, from 0; -ENOENT: no such parameter. */
int router_parameter_place(const ApiRoute *route, const char *name);

/* Parses a port in a host name or path. -EINVAL: these n characters are not a port. */
int router_port(const char *text, size_t n, uint16_t *ret);
