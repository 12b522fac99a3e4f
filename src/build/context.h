/* context.h: the files of a build context, by name and hash, and the selection of COPY.
 *
 * Reads the output of `cove-archive survey`; the files themselves stay in their archive.
 * Pure. Must not know: sandboxes, where the archive is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

#define CONTEXT_HASH_HEX 65

typedef struct ContextMember {
        char type; /* f d l h */
        bool archive; /* a file that is itself a tar archive */
        bool ignored; /* excluded by .dockerignore */
        unsigned mode;
        uint64_t size;
        const char *hash; /* "-": none */
        char *path, *target;
} ContextMember;

typedef struct ContextFile {
        char *path, *data; /* data: with a NUL after it */
        size_t size;
} ContextFile;

typedef struct BuildContext {
        ContextMember *members; /* sorted by path, without duplicates; includes implied parent directories */
        size_t n;
        ContextFile *files; /* those whose content was requested */
        size_t n_files;
        char *text;         /* the buffer that the others point into */
} BuildContext;

/* Takes the text, also on failure. -EBADMSG: it is cut off, or not output of the archive program. */
int context_parse(char *text_take, size_t size, BuildContext **ret, Error *reterr);
BuildContext *context_free(BuildContext *c);
static inline void context_freep(BuildContext **c) {
        *c = context_free(*c);
}
#define _cleanup_context_ _cleanup_(context_freep)

const ContextFile *context_file(const BuildContext *c, const char *path); /* NULL */
const ContextMember *build_context_find(const BuildContext *c, const char *path);
/* The index of the first member below the directory; ret_n gets the number of members. They are adjacent. */
size_t context_below(const BuildContext *c, const char *directory, size_t *ret_n);

/* The effect of one COPY or ADD. */
typedef struct Selection {
        char *map;          /* for archive/copy.h: "from NUL to NUL"…; `to` is relative to "/" */
        size_t map_size;
        size_t n;           /* number of pairs */
        Strv unpacked;      /* ADD: archives to unpack into the destination */
        bool directory;     /* the destination will be a directory */
        char hash[CONTEXT_HASH_HEX]; /* over names, modes and contents as they will be */
} Selection;
void selection_done(Selection *s);

typedef struct SelectionRequest {
        char *const *sources;
        size_t n_sources;
        bool literal;              /* sources are not patterns */
        bool keep_links;           /* a source that is a link is copied itself, not its target */
        const char *destination;   /* absolute; with a slash at the end: a directory */
        bool destination_is_directory; /* it exists as a directory */
        bool unpack;               /* ADD */
} SelectionRequest;

/* c may be NULL: no context. -ENOENT: a source does not exist; -EXDEV: it leads out of the context; -EINVAL. */
int context_select(const BuildContext *c, const SelectionRequest *request, Selection *ret, Error *reterr);
