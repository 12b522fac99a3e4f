/* parse.h: parses sizes, times, CPU shares and numbers as people write them.
 *
 * Strict: the whole string must be the value, signs and spaces are refused, overflow is an error. -EINVAL: not a
 * value; -ERANGE: out of range.
 * Knows libc only. */
#pragma once

#include <stdint.h>

#include "base/clock.h"

int parse_uint64(const char *text, uint64_t min, uint64_t max, uint64_t *ret);

/* Bytes: a number with an optional fraction and a unit of K, M, G, T (powers of 1024; KB, KiB, kb … mean the same). */
int parse_size(const char *text, uint64_t *ret);

/* Time: a number with an optional fraction and a unit of us, ms, s, m, h, d; several may follow one another (1m30s).
 * Without a unit: seconds. */
int parse_duration(const char *text, usec_t *ret);

/* CPU shares in thousandths of a core: "0.5" is 500. */
int parse_cpus(const char *text, uint32_t *ret_milli);
