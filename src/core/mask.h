/* mask.h: which bytes of what a sandbox prints are not shown.
 *
 * A mask has values. Every byte of a text that is part of a value in it becomes '*', so that offsets stay true. Whether a byte is shown
 * follows from what stands around it, up to the longest value less one to each side, and from nothing else: so a text looks the same
 * in whatever pieces it is read, and a cursor can be taken up anywhere. At the end of a text that still grows, what may be the
 * beginning of a value is held back until more is there, or until it is sure that nothing comes.
 * Beside a value itself it is looked for in base64 (at any of the three alignments, both alphabets), with the line ends of a terminal,
 * without the newlines at its end, and, when it has several lines, for each long one. Shorter than MASK_MIN it is not looked for:
 * it would hide words that have nothing to do with it. What is longer than FINDER_WORD_MAX is looked for in parts of at least half of that, each of
 * which is hidden by itself.
 * All that is looked for is one automaton (finder.h): a byte costs the same for one value and for hundreds. Memory and the time to make it follow the
 * bytes that are looked for, and those are bounded.
 * Must not know: where values come from, journals, HTTP. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MASK_MIN        4
#define MASK_BASE64_MIN 8    /* bytes of a value that is looked for in base64 … */
#define MASK_BASE64_MAX 1024 /* … longer ones are broken into lines by whoever prints them */
#define MASK_LINE_MIN   16
#define MASK_LINES_MAX  256
#define MASK_VALUES_MAX 512 /* of one mask */
#define MASK_BYTES_MAX  ((size_t) 2 << 20) /* that are looked for, of one mask: for 230 values of 1000 bytes, which are nine times as many in all spellings */

typedef struct Mask Mask;

Mask *mask_new(void);
Mask *mask_ref(Mask *m);   /* NULL is fine, also below */
Mask *mask_unref(Mask *m);

/* 1: added, 0: it is there already, or is too short to be looked for. -E2BIG: too many, or too long together. */
int mask_add(Mask *m, const void *value, size_t size);
bool mask_fits(const Mask *m, const void *value, size_t size); /* one that is not there yet */
bool mask_has(const Mask *m, const void *value, size_t size);
bool mask_is_empty(const Mask *m);
size_t mask_count(const Mask *m); /* of values that were added */
size_t mask_bytes(const Mask *m); /* that are looked for, at most */
uint64_t mask_steps(const Mask *m); /* that looking has taken so far, as finder_steps() */

/* In place. ret_shown: so many bytes are certain, whatever comes behind; all of them, if nothing does. -ENOMEM: untouched. */
int mask_apply(const Mask *m, void *data, size_t size, size_t *ret_shown);

/* Like pread() of a file of `end` bytes. final: it does not grow any more. May give less than there is; 0: nothing for now. */
ssize_t mask_pread(const Mask *m, int fd, uint64_t end, bool final, void *buffer, size_t size, uint64_t offset);
/* How far mask_pread() would come. */
int mask_shown_end(const Mask *m, int fd, uint64_t end, bool final, uint64_t *ret);
