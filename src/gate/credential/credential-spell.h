/* credential-spell.h: a value in a stream, however whoever wrote it has spelled its letters.
 *
 * Each letter counts as itself, as %XX, \uXXXX, \xXX, \OOO, behind backslashes, as an entity of HTML and as =XX, upper or lower case, some of them
 * several times over (%252F, \\/, &amp;#47;), in any mixture; with up to three NULs between letters (UTF-16, UTF-32), or a "=" and a line's end
 * (quoted-printable); all of it as hexadecimal digits, with blanks, colons and ends of lines between them, and in base64, both alphabets, broken into
 * lines or not, whatever stands before it. An end of a line may itself be spelled (\n, %0A, &#10;).
 *
 * A value is cut into pieces of up to 64 letters, each one a machine of 64 bits (Shift-And) that moves on over what a spelling takes; made once, for all
 * streams. So a byte of the
 * stream costs a look at a table, and a few operations for each piece that may have begun: nobody makes it slow by what he sends. Where one begins that
 * was found is looked for only as long as the bytes of the stream pay for it; then all is hidden from where it may have begun. Only pieces that have
 * begun take memory. What may become a piece is kept back, whatever else is passed on at once.
 * Letters beyond ASCII count as their bytes of UTF-8 only: as themselves, %XX, \xXX, \OOO, =XX.
 * Must not know: HTTP, hosts. */
#pragma once

#include "base/text.h"

typedef struct SpellSet SpellSet;       /* the pieces of one value */
typedef struct SpellFinder SpellFinder; /* a stream */

#define SPELL_HIDDEN_MAX 1024 /* longer values are not looked for as digits and in base64 */

/* to: what stands in the place of a value that was written in letters, where the length may change. Digits and base64 become stars. Borrowed,
 * as is name. NULL: no memory. */
SpellSet *spell_set_new(const char *value, size_t size, const char *name, const char *to);
SpellSet *spell_set_free(SpellSet *s); /* and wiped */
size_t spell_set_size(const SpellSet *s); /* that it takes */

SpellFinder *spell_finder_new(bool same_length);
SpellFinder *spell_finder_free(SpellFinder *f);
int spell_finder_add(SpellFinder *f, const SpellSet *s); /* before the first byte; borrowed */

size_t spell_finder_size(const SpellFinder *f); /* that it takes now */

/* As credential_filter_feed(). ret_name: of what was found last; else untouched. */
int spell_finder_feed(SpellFinder *f, const void *data, size_t size, bool last, Text *out, const char **ret_name);
