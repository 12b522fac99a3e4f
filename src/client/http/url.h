/* url.h: paths and queries of requests, with everything encoded that has to be. Knows libc only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Grows a path: "/api/sandbox", then parts, then queries. Having no memory sticks, as an error. */
typedef struct Url {
        char *text;
        size_t size;
        unsigned n_queries;
        int error;
} Url;

void url_done(Url *u);
#define _cleanup_url_ _cleanup_(url_done)

void url_begin(Url *u, const char *path); /* as it is */
void url_fill(Url *u, const char *path, char *const *words); /* each % is the next word, encoded; may have a query */
void url_part(Url *u, const char *part);  /* "/" and it, encoded */
void url_query(Url *u, const char *name, const char *value); /* value NULL: nothing is added */
void url_query_number(Url *u, const char *name, uint64_t value);

/* "/api/sandbox/ID", and with a further part "/api/sandbox/ID/what". */
void url_sandbox(Url *u, const char *sandbox, const char *what);
/* "/api/sandbox/ID/exec/EID", and with a further part "…/what". */
void url_execution(Url *u, const char *sandbox, const char *execution, const char *what);
