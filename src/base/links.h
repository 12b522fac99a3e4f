/* links.h: finds hard links: which files have been seen under another name. In an archive the second name of a file
 * becomes a link to the first.
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

/* *ret is the first name under which the file was seen; NULL: this name is the first, and it is recorded. Files with a
 * single link and directories are not recorded. */
int links_first(Links *l, const struct stat *st, const char *path, const char **ret);
void links_done(Links *l);
