/* text.h: a growing text buffer, and encodings of bytes as text: JSON strings, UTF-8, base64, hexadecimal.
 *
 * A text grows up to the ceiling it was made with. A failure (no memory, -EFBIG at the ceiling) sticks; the caller
 * checks once, at the end. JSON that is large or frequent is written by hand: the output of commands, lists of files.
 * Knows libc only. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macro.h"

typedef struct Text {
        char *data; /* not terminated */
        size_t size, room, max;
        int error;
} Text;

#define TEXT_INIT(ceiling) { .max = (ceiling) }

void text_done(Text *t);
void text_wipe(Text *t); /* likewise, and its bytes are no more */
#define _cleanup_text_ _cleanup_(text_done)

/* Appends `size` bytes for the caller to fill in; NULL: no room. */
char *text_extend(Text *t, size_t size);
void text_put(Text *t, const void *data, size_t size);
void text_put_string(Text *t, const char *s);
size_t text_copy(const Text *t, size_t *from, void *buffer, size_t size); /* copies from *from on and advances it; returns the bytes */
void text_consume(Text *t, size_t size); /* drops `size` bytes from the beginning */
void text_format(Text *t, const char *format, ...) _printf_(2, 3); /* short things: numbers, fixed words */

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_quote(Text *t, const void *data, size_t size);
void text_escape(Text *t, const void *data, size_t size); /* the same without quotes: a piece of a longer string; it must end at a character's end */
void text_quote_string(Text *t, const char *s); /* NULL is null */
void text_quote_base64(Text *t, const void *data, size_t size);
/* ISO-8601 in UTC with milliseconds. */
void text_quote_time(Text *t, int64_t nsec);

/* Length of the UTF-8 character at p; `left` bytes are present. 0: not valid (overlong forms, surrogates and values
 * beyond U+10FFFF are not either); -1: the bytes end within the character. */
int utf8_length(const void *p, size_t left);
/* Replaces control characters, and bytes that are not UTF-8, by "?", in place: safe to print on a terminal. */
void text_tame(char *text);

/* Length of the valid UTF-8 at the beginning. ret_cut: the rest begins another character, so later bytes decide. */
size_t utf8_prefix(const void *data, size_t size, bool *ret_cut);

#define BASE64_SIZE(n) (((n) + 2) / 3 * 4)
void base64_encode(const void *data, size_t size, char *ret); /* BASE64_SIZE(size) characters, not terminated */
#define BASE64_ROOM(n) ((n) / 4 * 3 + 3) /* bytes that n letters decode to, at most */
ssize_t base64_read(const char *text, size_t size, uint8_t *ret); /* returns the number of bytes; -EBADMSG */

int hex_digit(char c); /* its value; -1: not a digit */
void hex_encode(const void *data, size_t size, char *ret); /* 2 * size lower-case digits, terminated */
/* Expects exactly 2 * size digits and nothing after them; else -EINVAL. */
int hex_decode(const char *text, void *ret, size_t size);

/* As vasprintf(3), but returns the string; NULL: no memory. */
char *string_vformat(const char *format, va_list ap) _printf_(1, 0);

/* Replaces *to by a copy of the string; NULL leaves it as it is. */
int string_copy(char **to, const char *from);
