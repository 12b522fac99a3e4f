/* multipart.h: forms with files in them (multipart/form-data, RFC 7578), as a stream.
 *
 * A small machine that is fed with pieces of any size and says one thing at a time. It keeps no data: what it hands out lies in the piece that it was given, or is the
 * beginning of a delimiter that was none. Who cannot take all of it now takes a part, and gives the rest again.
 *
 *      while ((r = multipart_next(&m, data + used, size - used, &n, &piece)) > 0) {
 *              used += n;
 *              … DATA: used += multipart_took(&m, as much as was taken)
 *      }
 *
 * Pure. Must not know: HTTP, files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MULTIPART_BOUNDARY_MAX 200
#define MULTIPART_LINE_MAX     16384
#define MULTIPART_LINES_MAX    64
#define MULTIPART_NAME_MAX     4096

typedef enum MultipartEvent {
        MULTIPART_MORE, /* all that was given is used */
        MULTIPART_PART, /* one begins: name, filename */
        MULTIPART_DATA,
        MULTIPART_PART_END,
        MULTIPART_END, /* what follows is nothing to us */
} MultipartEvent;

typedef struct MultipartPiece {
        const char *data;
        size_t size;
} MultipartPiece;

typedef struct Multipart {
        char delimiter[MULTIPART_BOUNDARY_MAX + 5]; /* CR LF "--" and the boundary */
        size_t delimiter_size;
        size_t matched;  /* of the delimiter, so far */
        size_t imagined; /* … of which so many were never there: the line end before a first delimiter */
        size_t owed, owed_from; /* of the delimiter, which are data after all */
        unsigned state;
        bool in_part;
        char line[MULTIPART_LINE_MAX];
        size_t line_size;
        unsigned n_lines;

        /* Of the part. */
        char name[256];
        bool has_filename;
        char filename[MULTIPART_NAME_MAX];
} Multipart;

/* By the value of Content-Type; -EINVAL: it names no boundary, or none that could be. */
int multipart_init(Multipart *m, const char *content_type);

/* MultipartEvent, and how much of the input is behind us; or -EBADMSG: no such form, -E2BIG: a line or a name that is too long. */
int multipart_next(Multipart *m, const char *data, size_t size, size_t *ret_used, MultipartPiece *ret_piece);
/* After DATA: how much of the input is used by that. */
size_t multipart_took(Multipart *m, size_t size);
