/* human.h: formats times, ages and sizes for people, and makes text safe for a terminal. Knows libc only. */
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

/* Makes untrusted text safe for a terminal: control characters and invalid UTF-8 become "?". The caller
 * frees. NULL: out of memory. */
char *human_clean(const char *text);

/* Prints a program's output, in pieces as they arrive: control characters except line ends and tabs become
 * "?". held: false at first. */
void human_put(FILE *f, const void *data, size_t size, bool *held);

/* Prints formatted text and a newline to stdout. The result is cleaned as a whole: the format must have no
 * control characters of its own. */
void human_line(const char *format, ...) _printf_(1, 2);

/* The number of terminal columns that clean text takes. */
size_t human_width(const char *text);
