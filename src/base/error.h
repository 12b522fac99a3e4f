/* error.h: what a person will read about a failure.
 *
 * Functions return negative errno; an Error travels beside it and carries one sentence that names the value and, where
 * there is one, the cure. The deepest function that knows the value writes it; callers on the way up may put their
 * context in front. Fixed size: usable between clone and exec, where nothing may be allocated.
 * Knows libc only. */
#pragma once

#include <stdbool.h>

#include "base/macro.h"

#define ERROR_TEXT_MAX 512

typedef struct Error {
        int code; /* negative errno, 0 when unset */
        char text[ERROR_TEXT_MAX];
} Error;

/* Sets the text and returns the code, so that a failing line reads `return error_set(e, -EINVAL, "…")`.
 * A %m in the text is the words for the code. The error pointer may be NULL. */
int error_set(Error *reterr, int code, const char *format, ...) _printf_(3, 4);

/* True for a shortage of our own: descriptors, memory, space, a place in a queue. A shortage says nothing about the
 * peer: it fails one request or is retried later, and never ends or destroys anything. code: an errno, of either
 * sign. */
bool error_is_shortage(int code);

/* For a step back without which all that follows would be done as somebody else, or elsewhere: waits a moment if the
 * code is a shortage, which passes, and the caller tries again; else aborts. */
void error_outwait(int code);

/* Puts "context: " in front of the text. */
int error_prefix(Error *reterr, int code, const char *format, ...) _printf_(3, 4);

/* Puts the consequence, or the cure, behind the text. */
int error_suffix(Error *reterr, int code, const char *format, ...) _printf_(3, 4);

/* Replaces each path that begins with the prefix by "…": remote callers must not learn the host's layout. */
void error_hide(Error *e, const char *prefix);
