/* url.h: paths and queries of requests, with everything encoded that has to be. Knows libc only. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/macro.h"

/* Having no memory sticks, as an error. */
typedef struct Url {
        char *text;
        size_t size;
        unsigned n_queries;
        int error;
} Url;

void url_done(Url *u);
#define _cleanup_url_ _cleanup_(url_done)

/* "/api/sandbox/%s/exec?limit=%u": %s is a text, which is encoded; %u and %llu are numbers. A query whose text is NULL is left out. */
Url url_of(const char *format, ...) _printf_(1, 2);
Url url_of_words(const char *format, va_list words);

/* As a verb's table has it: each % is the next word; may have a query. */
Url url_fill(const char *path, char *const *words);

void url_query(Url *u, const char *name, const char *value); /* value NULL: nothing is added */

void url_cut(Url *u, const Url *before); /* takes back what was added since */

/* NULL: no memory. */
static inline const char *url_text(const Url *u) {
        return u->error < 0 ? NULL : u->text;
}
