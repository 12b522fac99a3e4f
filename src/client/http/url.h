/* url.h: builds paths and queries of requests, percent-encoded where needed. Knows libc only. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/macro.h"

/* Lack of memory is kept as the error. */
typedef struct Url {
        char *text;
        size_t size;
        unsigned n_queries;
        int error;
} Url;

void url_done(Url *u);
#define _cleanup_url_ _cleanup_(url_done)

/* "/api/sandbox/%s/exec?limit=%u": %s is a text, which is encoded; %u and %llu are numbers. A query parameter
 * whose text is NULL is left out. */
Url url_of(const char *format, ...) _printf_(1, 2);
Url url_of_words(const char *format, va_list words);

/* From a path of a verb's table: each % is replaced by the next word; it may have a query. */
Url url_fill(const char *path, char *const *words);

void url_query(Url *u, const char *name, const char *value); /* value NULL: adds nothing */

void url_cut(Url *u, const Url *before); /* restores an earlier state */

/* NULL: no memory. */
static inline const char *url_text(const Url *u) {
        return u->error < 0 ? NULL : u->text;
}
