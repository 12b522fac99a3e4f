/* links.h: which files have been seen under another name already: in an archive, the second name of a file becomes a link to the first.
 *
 * Must not know: what a name leads to. Knows libc only. */
#pragma once

#include <stddef.h>
#include <sys/stat.h>

typedef struct LinkSeen {
        dev_t dev;
        ino_t ino;
        char *path; /* NULL: free */
} LinkSeen;

typedef struct Links {
        LinkSeen *slots;
        size_t n_slots, n;
} Links;

/* The name that a file was first seen under; NULL in *ret: this is the first, and kept. Files with one name are not. */
int links_first(Links *l, const struct stat *st, const char *path, const char **ret);
void links_done(Links *l);
