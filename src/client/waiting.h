/* waiting.h: what a person is told who waits for an answer: that it is being waited for, and, when Ctrl-C ends us, what goes on without us.
 *
 * After two seconds of silence a line on the terminal says what is waited for, and for how long; it is gone when the answer is there.
 * Signal handlers write it: nothing here waits for anything.
 * Must not know: what is asked. */
#pragma once

#include "base/macro.h"

/* What the questions from here on are, as in "taking the snapshot"; NULL: nothing particular. The words are borrowed. */
void waiting_for(const char *words);

/* Around one question. */
void waiting_begin(void);
void waiting_end(void);

/* What SIGINT, SIGTERM and SIGHUP say before they end us, as they always do; a later text replaces it. leftover: a file of ours that they remove, borrowed; NULL: none. */
void farewell_set(const char *leftover, const char *format, ...) _printf_(2, 3);
void farewell_clear(void);
