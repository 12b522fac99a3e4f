/* log.h: lines for a person, or for a machine, on stderr.
 *
 * One failure makes one line, and the verb that gives up writes it; rooms below speak only at debug level (-v).
 * With log_json a line is a JSON object: time, level, message, and, for lines that begin with "sandbox ID: ", the
 * sandbox. A line about a sandbox therefore begins with those words; log_sandbox() adds them.
 * Knows libc only. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "base/macro.h"

extern int log_verbosity; /* -1 errors, 0 and warnings, 1 and debug (-v) */
extern bool log_infos;    /* write level "info": ordinary events */
extern bool log_json;
/* For daemons: of the warnings and errors from one place in the code, at most LOG_BURST are written per LOG_BURST_USEC,
 * followed by the number of lines left out. */
extern bool log_bounded;

/* level NULL: an error. "notice" and "info" have no word in front. */
void log_line(const char *level, const char *format, ...) _printf_(2, 3);
/* Logs an error and returns its code, as in `return log_failure(-errno, "cannot open '%s': %m", path)`. %m is the
 * text for the code. */
int log_failure(int code, const char *format, ...) _printf_(2, 3);
/* level as above; obeys log_verbosity and log_infos. */
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
