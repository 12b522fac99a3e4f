/* strv.h: a NULL-terminated list of strings that grows up to a ceiling.
 *
 * The list owns its strings. Ready to be handed to execve. Knows libc only. */
#pragma once

#include <stddef.h>

typedef struct Strv {
        char **items; /* NULL, or n strings and a NULL */
        size_t n, room, max;
} Strv;

#define STRV_INIT(ceiling) { .max = (ceiling) }

void strv_done(Strv *v);

/* Copies the string; -E2BIG at the ceiling. */
int strv_push(Strv *v, const char *text);
int strv_push_take(Strv *v, char *text); /* ours on success */
int strv_extend(Strv *v, const Strv *more); /* appends copies of all strings; NULL has none */
int strv_push_all(Strv *v, const char *const *texts); /* up to a NULL */

/* Cuts the list to a size in bytes, counting STRV_EACH for each string, and frees the rest of the memory. The first
 * string that does not fit is cut, ends in "…" and becomes the last one. */
#define STRV_EACH 32 /* cost of a string besides its characters */
void strv_cut(Strv *v, size_t bytes);

/* For lists of "NAME=value": replaces the entry of the same name, or adds one. */
int strv_set_env(Strv *v, const char *assignment);
const char *strv_get_env(const Strv *v, const char *name);
