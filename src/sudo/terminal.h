/* terminal.h: a terminal of its own for the command, and the user's while it runs.
 *
 * The user's terminal is not the command's: whoever types into, or resizes, or hangs up the one does so to the other by way of us, and a
 * command that is left behind holds nothing of the user's.
 * Must not know: what the command is. */
#pragma once

#include <stdbool.h>
#include <termios.h>

typedef struct Terminal {
        int user_fd;   /* the user's own; -EBADF: there is none, and nothing of this happens */
        int master_fd; /* our side of the command's */
        int slave_fd;  /* the command's; closed as soon as it has it */
        bool raw;      /* the user's is, for now */
        bool wants_raw; /* when we are in the foreground */
        struct termios before;
} Terminal;

#define TERMINAL_EMPTY { .user_fd = -EBADF, .master_fd = -EBADF, .slave_fd = -EBADF }

/* Where the caller has one, and one of 0–2 is it. */
int terminal_open(Terminal *t);

/* What the command gets instead: the slave for what is a terminal, else what it is. */
int terminal_replace(const Terminal *t, int fd);

void terminal_resize(const Terminal *t);
void terminal_enter(Terminal *t); /* raw, in the foreground */
void terminal_leave(Terminal *t); /* as it was */
bool terminal_is_ours(const Terminal *t); /* we are in its foreground, and may read from it */
