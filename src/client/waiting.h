/* waiting.h: messages for a person who waits for an answer, and, when Ctrl-C ends the client, about what the
 * daemon continues to do.
 *
 * After two seconds without an answer, a line on the terminal shows what is awaited and for how long; it is
 * removed when the answer arrives. Signal handlers write it: no function here blocks.
 * Must not know: what is asked. */
#pragma once

#include "base/macro.h"

/* Names the questions that follow, as in "taking the snapshot"; NULL: no particular name. The string is
 * borrowed. */
void waiting_for(const char *words);

/* Call around one question. */
void waiting_begin(void);
void waiting_end(void);

/* Sets the text that SIGINT, SIGTERM and SIGHUP print before they end the client, as they do by default; a
 * later text replaces it. leftover: a file that they remove, borrowed; NULL: none. */
void farewell_set(const char *leftover, const char *format, ...) _printf_(2, 3);
void farewell_clear(void);
