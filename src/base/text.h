/* text.h: text that grows, and the forms that bytes have as text: JSON strings, UTF-8, base64, hexadecimal.
 *
 * Text grows up to the ceiling it was made with. A failure (no memory, -EFBIG at the ceiling) sticks, and is looked at once,
 * at the end. JSON is written by hand where it is large or comes often: the output of commands, lists of files.
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
#define _cleanup_text_ _cleanup_(text_done)

/* Bytes at the end to be filled in; NULL when there is no room. */
char *text_extend(Text *t, size_t size);
void text_put(Text *t, const void *data, size_t size);
void text_put_string(Text *t, const char *s);
size_t text_copy(const Text *t, size_t *from, void *buffer, size_t size); /* what there is from *from on, which moves; how much */
void text_consume(Text *t, size_t size); /* drops so much from the beginning */
void text_format(Text *t, const char *format, ...) _printf_(2, 3); /* short things: numbers, fixed words */

/* With quotes around it. What is not UTF-8 becomes U+FFFD. */
void text_quote(Text *t, const void *data, size_t size);
void text_escape(Text *t, const void *data, size_t size); /* the same without quotes: a piece of a longer one, which ends where a character does */
void text_quote_string(Text *t, const char *s); /* NULL is null */
void text_quote_base64(Text *t, const void *data, size_t size);
/* ISO-8601 in UTC with milliseconds. */
void text_quote_time(Text *t, int64_t nsec);

/* Length of the UTF-8 character at p, of which `left` bytes are there: 0 when it is none (overlong forms, surrogates and what is
 * beyond U+10FFFF are none either), -1 when the bytes end within it. */
int utf8_length(const void *p, size_t left);
/* In place: what would command a terminal, or is no UTF-8, becomes "?". */
void text_tame(char *text);

/* How much of it, from the beginning, is UTF-8. ret_cut: what follows is the beginning of one more character, so that bytes
 * which are still to come decide. */
size_t utf8_prefix(const void *data, size_t size, bool *ret_cut);

#define BASE64_SIZE(n) (((n) + 2) / 3 * 4)
void base64_encode(const void *data, size_t size, char *ret); /* BASE64_SIZE(size) characters, not terminated */
#define BASE64_ROOM(n) ((n) / 4 * 3 + 3) /* bytes that n letters may stand for, at most */
ssize_t base64_read(const char *text, size_t size, uint8_t *ret); /* the bytes; -EBADMSG */

int hex_digit(char c); /* its value; -1: it is none */
void hex_encode(const void *data, size_t size, char *ret); /* 2 * size lower-case digits, terminated */
/* Exactly 2 * size digits, and nothing behind them; -EINVAL. */
int hex_decode(const char *text, void *ret, size_t size);

/* vasprintf(3), with NULL where there is no memory. */
char *string_vformat(const char *format, va_list ap) _printf_(1, 0);

/* Replaces *to by a copy of the string; NULL leaves it as it is. */
int string_copy(char **to, const char *from);
