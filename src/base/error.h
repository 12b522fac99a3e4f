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

/* A failure has a kind. "I lack something" (descriptors, memory, space, a place in a queue) says nothing about the other side: it fails one
 * request, or is tried again later, and never ends or destroys anything. code: an errno, of either sign. */
bool error_is_shortage(int code);

/* Puts "context: " in front of what is there already. */
int error_prefix(Error *reterr, int code, const char *format, ...) _printf_(3, 4);

/* Puts what follows from it, or the cure, behind what is there already. */
int error_suffix(Error *reterr, int code, const char *format, ...) _printf_(3, 4);

/* Each path that begins with the prefix becomes "…": callers from outside need not know how the host is laid out. */
void error_hide(Error *e, const char *prefix);
