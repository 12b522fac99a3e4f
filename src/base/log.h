/* log.h: lines for a person, or for a machine, on stderr.
 *
 * One failure makes one line, and the verb that gives up writes it; rooms below speak only at debug level (-v).
 * With log_json a line is a JSON object: time, level, message, and, for lines that begin with "sandbox ID: ", the sandbox. So whoever
 * writes about a sandbox begins like that, or takes log_sandbox(), which does.
 * Knows libc only. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "base/macro.h"

extern int log_verbosity; /* -1 errors, 0 and warnings, 1 and debug (-v) */
extern bool log_infos;    /* what happens in the course of things */
extern bool log_json;
/* For what runs for long: of warnings and errors from one place in the code, LOG_BURST are written in LOG_BURST_USEC; how many were left out
 * is said after that. */
extern bool log_bounded;

/* level NULL: an error. "notice" and "info" have no word in front. */
void log_line(const char *level, const char *format, ...) _printf_(2, 3);
/* Tells of an error and returns its code, as in `return log_failure(-errno, "cannot open '%s': %m", path)`. %m is the words for the code. */
int log_failure(int code, const char *format, ...) _printf_(2, 3);
/* level as above; what nobody wants to read is left out. */
void log_sandbox(const char *level, const char *id, const char *format, ...) _printf_(3, 4);

#define LOG_BURST      100
#define LOG_BURST_USEC (10 * USEC_PER_SEC)

#define log_error(...)  log_line(NULL, __VA_ARGS__)
#define log_notice(...) log_line("notice", __VA_ARGS__)
#define log_warning(...)                                                                                     \
        do {                                                                                                 \
                if (log_verbosity >= 0)                                                                      \
                        log_line("warning", __VA_ARGS__);                                                    \
        } while (0)
#define log_info(...)                                                                                        \
        do {                                                                                                 \
                if (log_infos)                                                                               \
                        log_line("info", __VA_ARGS__);                                                       \
        } while (0)
#define log_debug(...)                                                                                       \
        do {                                                                                                 \
                if (log_verbosity > 0)                                                                       \
                        log_line("debug", __VA_ARGS__);                                                      \
        } while (0)
