/* multipart.h: parses forms with files (multipart/form-data, RFC 7578) as a stream.
 *
 * A state machine that takes input in pieces of any size and reports one event at a time. It stores no data:
 * its output points into the input, or into the delimiter if that matched only partly. A caller may take a
 * part of the output and pass the rest again.
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
        MULTIPART_MORE, /* all input is used */
        MULTIPART_PART, /* a part begins: see name, filename */
        MULTIPART_DATA,
        MULTIPART_PART_END,
        MULTIPART_END, /* the rest of the input is ignored */
} MultipartEvent;

typedef struct MultipartPiece {
        const char *data;
        size_t size;
} MultipartPiece;

typedef struct Multipart {
        char delimiter[MULTIPART_BOUNDARY_MAX + 5]; /* CR LF "--" and the boundary */
        size_t delimiter_size;
        size_t matched;  /* bytes of the delimiter matched so far */
        size_t imagined; /* … of which this many were not in the input: the line end before a first delimiter */
        size_t owed, owed_from; /* matched bytes that turned out to be data, still to be reported */
        unsigned state;
        bool in_part;
        char line[MULTIPART_LINE_MAX];
        size_t line_size;
        unsigned n_lines;

        /* The current part. */
        char name[256];
        bool has_filename;
        char filename[MULTIPART_NAME_MAX];
} Multipart;

/* content_type: the header's value. -EINVAL: it has no boundary, or an invalid one. */
int multipart_init(Multipart *m, const char *content_type);

/* Returns a MultipartEvent, and in ret_used the input consumed; -EBADMSG: not a valid form; -E2BIG: a line or
 * a name is too long. */
int multipart_next(Multipart *m, const char *data, size_t size, size_t *ret_used, MultipartPiece *ret_piece);
/* Call it after DATA. Returns the input consumed by the `size` bytes of data. */
size_t multipart_took(Multipart *m, size_t size);
