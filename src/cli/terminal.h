/* terminal.h: the caller's own terminal while a command with a terminal runs.
 *
 * Sets raw mode, and restores it in every case. One per process: the saved state is kept here. */
#pragma once

#include <stddef.h>
#include <sys/ioctl.h>

/* Puts fd into raw mode, if it is a terminal. terminal_restore() or exit restores it. */
int terminal_raw(int fd);
void terminal_restore(void);

/* Blocks these signals and returns a descriptor that reports them. Negative: see errno. */
int terminal_signals(const int *numbers, size_t n);

/* The size of the first of 0–2 that is a terminal, else 80 × 24. */
struct winsize terminal_size(void);
