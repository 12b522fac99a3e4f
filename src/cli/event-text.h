/* event-text.h: extracts one text from a line of JSON that one of cove's programs has written.
 *
 * It is not a parser: it finds a member of an object on one level, and returns its text without control
 * characters, because the text may come from an untrusted source.
 * Must not know: which events exist. */
#pragma once

#include <stddef.h>

/* The result is always terminated, and truncated to the size. -ENOENT: no such member, or not a text.
 * -EBADMSG: not JSON. */
int event_text(const char *line, const char *key, char *ret, size_t size);
