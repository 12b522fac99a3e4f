/* human.h: times, ages and sizes as a person reads them, and text that a terminal can be trusted with. Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/macro.h"

#define HUMAN_MAX 24

/* Each writes into the buffer and returns it. */
const char *human_span(usec_t usec, char buffer[static HUMAN_MAX]);      /* "350ms", "12s", "5m", "3h", "2d": one unit */
const char *human_size(double bytes, char buffer[static HUMAN_MAX]);     /* "0", "512K", "1.5M", "20G" */
const char *human_megabytes(double megabytes, char buffer[static HUMAN_MAX]);

/* "2026-01-02T03:04:05.678Z" to microseconds since 1970; -EINVAL. */
int human_parse_time(const char *text, usec_t *ret);

/* What is printed to people must not command their terminal: control characters become "?", as do bytes that are no UTF-8.
 * Caller frees; NULL: no memory. */
char *human_clean(const char *text);

/* What a program has printed, in pieces as they come: control characters but line ends and tabs become "?". held: false at first. */
void human_put(FILE *f, const void *data, size_t size, bool *held);

/* Formatted text and a newline on stdout, cleaned as a whole: the format has no control characters of its own. */
void human_line(const char *format, ...) _printf_(1, 2);

/* Columns that clean text takes on a terminal. */
size_t human_width(const char *text);
