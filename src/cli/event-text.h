/* event-text.h: one text out of a line of JSON that a program of ours has written.
 *
 * Not a parser: finds the member of an object on one level, and writes its text as a person may read it, without control characters,
 * whoever has chosen it.
 * Must not know: what events there are. */
#pragma once

#include <stddef.h>

/* Always terminated, cut to the size. -ENOENT: no such member, or it is no text; -EBADMSG: this is no JSON. */
int event_text(const char *line, const char *key, char *ret, size_t size);
