/* credential-spell.h: finds a value in a stream, in whatever spelling it was written.
 *
 * Each letter may be written as itself, as %XX, \uXXXX, \xXX, \OOO, after backslashes, as an HTML entity, or
 * as =XX. Hex digits may be upper or lower case. Some spellings may be applied several times (%252F, \\/,
 * &amp;#47;), in any mixture. Between letters there may be up to three NULs (UTF-16, UTF-32), or a "=" and a
 * line end (quoted-printable). The whole value may be written in hexadecimal digits, with blanks, colons and
 * line ends between them, or in base64, in both alphabets, with or without line breaks, at any offset. A line
 * end may itself be spelled (\n, %0A, &#10;).
 *
 * A value is cut into pieces of up to 64 letters. Each piece is a 64-bit state machine (Shift-And) that
 * advances over the length of a spelling. Pieces are made once, for all streams. A byte of the stream costs a
 * table lookup, and a few operations for each piece that may have begun, so a hostile sender cannot make it
 * slow. The search for the exact beginning of a match has a budget, to which each byte of the stream adds;
 * when it is used up, everything from the earliest possible beginning is hidden. Only pieces that have begun
 * take memory. Bytes that may become part of a piece are held back; the rest is passed on at once.
 * Letters beyond ASCII are matched only as their UTF-8 bytes: as themselves, %XX, \xXX, \OOO, =XX.
 * Must not know: HTTP, hosts. */
#pragma once

#include "base/text.h"

typedef struct SpellSet SpellSet;       /* the pieces of one value */
typedef struct SpellFinder SpellFinder; /* the search in one stream */

#define SPELL_HIDDEN_MAX 1024 /* longer values are not searched for as hex digits and base64 */

/* to: the replacement for a value that was written in letters, if the length may change. Hex digits and
 * base64 are replaced by stars. name and to are borrowed. NULL: out of memory. */
SpellSet *spell_set_new(const char *value, size_t size, const char *name, const char *to);
SpellSet *spell_set_free(SpellSet *s); /* wipes it */
size_t spell_set_size(const SpellSet *s); /* bytes of memory */

SpellFinder *spell_finder_new(bool same_length);
SpellFinder *spell_finder_free(SpellFinder *f);
int spell_finder_add(SpellFinder *f, const SpellSet *s); /* before the first byte; s is borrowed */

size_t spell_finder_size(const SpellFinder *f); /* bytes of memory, currently */

/* Like credential_filter_feed(). ret_name: set to the name of the last match; unchanged if there was none. */
int spell_finder_feed(SpellFinder *f, const void *data, size_t size, bool last, Text *out, const char **ret_name);
