/* mask.h: hides secret values in the output of a sandbox.
 *
 * A mask is a set of values. Every byte of a text that is part of one of them becomes '*', so that offsets stay
 * true. Whether a byte is shown depends only on its surroundings, up to the length of the longest value minus one
 * to each side: so a text looks the same in whatever pieces it is read, and reading can continue at any cursor. At
 * the end of a text that still grows, a possible beginning of a value is held back until more is there, or until
 * the text is final.
 * A value is also searched for in base64 (all three alignments, both alphabets), with the line ends of a terminal,
 * without its trailing newlines, and, if it has several lines, by each long line. A value shorter than MASK_MIN is
 * not searched for: it would hide unrelated words. A value longer than FINDER_WORD_MAX is searched for in parts of
 * at least half of that length, and each part is hidden by itself.
 * All these patterns are one automaton (finder.h): a byte of text costs the same for one value and for hundreds.
 * Memory and the time to build it grow with the bytes of the patterns, which are bounded.
 * Must not know: where values come from, journals, HTTP. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MASK_MIN        4
#define MASK_BASE64_MIN 8    /* bytes of a value that is searched for in base64 … */
#define MASK_BASE64_MAX 1024 /* … programs break longer ones into lines */
#define MASK_LINE_MIN   16
#define MASK_LINES_MAX  256
#define MASK_VALUES_MAX 512 /* of one mask */
/* Of all patterns of one mask: enough for 230 values of 1000 bytes, which have nine times as many bytes of
 * patterns. */
#define MASK_BYTES_MAX  ((size_t) 2 << 20)

typedef struct Mask Mask;

Mask *mask_new(void);
Mask *mask_ref(Mask *m);   /* NULL is fine, also below */
Mask *mask_unref(Mask *m);

/* 1: added, 0: it exists already, or is too short to be searched for. -E2BIG: too many, or too long together. */
int mask_add(Mask *m, const void *value, size_t size);
bool mask_fits(const Mask *m, const void *value, size_t size); /* whether a new value could be added */
bool mask_has(const Mask *m, const void *value, size_t size);
bool mask_is_empty(const Mask *m);
size_t mask_count(const Mask *m); /* number of values */
size_t mask_bytes(const Mask *m); /* upper bound for the bytes of all patterns */
uint64_t mask_steps(const Mask *m); /* as finder_steps() */

/* Masks in place. ret_shown: this many bytes are final, whatever follows; if nothing follows, all are. -ENOMEM: the
 * data is unchanged. */
int mask_apply(const Mask *m, void *data, size_t size, size_t *ret_shown);

/* Where a masked text comes from: all bytes at the offset up to size, or a negative errno. Fewer: the text is shorter than
 * it was said to be. */
typedef ssize_t (*MaskRead)(void *source, void *buffer, size_t size, uint64_t offset);
ssize_t mask_read_fd(void *fd, void *buffer, size_t size, uint64_t offset); /* a MaskRead; the source is an int */

/* Like pread() of a text of `end` bytes. final: the text does not grow any more. May return fewer bytes than there
 * are; 0: nothing for now. */
ssize_t mask_read(const Mask *m, MaskRead from, void *source, uint64_t end, bool final, void *buffer, size_t size, uint64_t offset);
/* The offset up to which mask_read() would return bytes. */
int mask_shown_end(const Mask *m, MaskRead from, void *source, uint64_t end, bool final, uint64_t *ret);
