/* context.h: the files that come with a build, by name and hash, and what COPY chooses of them.
 *
 * Reads what `cove-archive survey` wrote; the files themselves stay in their archive. Pure. Must not know: sandboxes, where the archive is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

#define CONTEXT_HASH_HEX 65

typedef struct ContextMember {
        char type; /* f d l h */
        bool archive; /* is a tar archive itself */
        bool ignored; /* .dockerignore leaves it out */
        unsigned mode;
        uint64_t size;
        const char *hash; /* "-": has none */
        char *path, *target;
} ContextMember;

typedef struct ContextFile {
        char *path, *data; /* with a NUL behind it */
        size_t size;
} ContextFile;

typedef struct BuildContext {
        ContextMember *members; /* by path, each once: directories that only names imply are there too */
        size_t n;
        ContextFile *files; /* those whose content was asked for */
        size_t n_files;
        char *text;         /* what the above points into */
} BuildContext;

/* Takes the text. -EBADMSG: is cut off, or was not written by the archive program. */
int context_parse(char *text_take, size_t size, BuildContext **ret, Error *reterr);
BuildContext *context_free(BuildContext *c);
static inline void context_freep(BuildContext **c) {
        *c = context_free(*c);
}
#define _cleanup_context_ _cleanup_(context_freep)

const ContextFile *context_file(const BuildContext *c, const char *path); /* NULL */
const ContextMember *build_context_find(const BuildContext *c, const char *path);
size_t context_below(const BuildContext *c, const char *directory, size_t *ret_n); /* the first that lies in it, and how many do: they stand together */

/* What one COPY or ADD does with them. */
typedef struct Selection {
        char *map;          /* of archive/copy.h: "from NUL to NUL"…; to is relative to "/" */
        size_t map_size;
        size_t n;           /* pairs */
        Strv unpacked;      /* ADD: archives that are unpacked into the destination */
        bool directory;     /* the destination will be one */
        char hash[CONTEXT_HASH_HEX]; /* over names, modes and contents, as they will be */
} Selection;
void selection_done(Selection *s);

typedef struct SelectionRequest {
        char *const *sources;
        size_t n_sources;
        bool literal;              /* no patterns */
        bool keep_links;           /* a link that is named itself is copied, and not what it leads to */
        const char *destination;   /* absolute; "/" at its end: a directory */
        bool destination_is_directory; /* there is one of that name */
        bool unpack;               /* ADD */
} SelectionRequest;

/* c may be NULL: there is no context. -ENOENT: a source that is not there; -EXDEV: leads out of it; -EINVAL. */
int context_select(const BuildContext *c, const SelectionRequest *request, Selection *ret, Error *reterr);
