/* log.h: lines for a person, on stderr.
 *
 * One failure makes one line, and the verb that gives up writes it; rooms below speak only at debug level (-v).
 * Knows libc only. */
#pragma once

#include "base/macro.h"

extern int log_verbosity; /* 0 errors and warnings, 1 with -v */

void log_line(const char *level, const char *format, ...) _printf_(2, 3);

#define log_error(...)   log_line(NULL, __VA_ARGS__)
#define log_warning(...) log_line("warning", __VA_ARGS__)
#define log_debug(...)                                                                                       \
        do {                                                                                                 \
                if (log_verbosity > 0)                                                                       \
                        log_line("debug", __VA_ARGS__);                                                      \
        } while (0)
