/* terminal.h: the caller's own terminal while a command with a terminal runs.
 *
 * Raw mode, and back whatever happens. One per process: the state that must be given back is kept here. */
#pragma once

#include <stddef.h>
#include <sys/ioctl.h>

/* Puts fd into raw mode, if it is a terminal. It is set back by terminal_restore() or at exit. */
int terminal_raw(int fd);
void terminal_restore(void);

/* Blocks these signals; a descriptor that tells of them. Negative: errno says why. */
int terminal_signals(const int *numbers, size_t n);

/* The size of the first of 0–2 that is a terminal, else 80 × 24. */
struct winsize terminal_size(void);
