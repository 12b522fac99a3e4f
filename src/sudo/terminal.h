/* terminal.h: a terminal of its own for the command, and the user's while it runs.
 *
 * The command does not get the user's terminal. We pass input, size changes and hang-ups on to the command's own
 * terminal, and a command that is left behind holds no descriptor of the user's terminal.
 * Must not know: what the command is. */
#pragma once

#include <stdbool.h>
#include <termios.h>

typedef struct Terminal {
        int user_fd;   /* the user's own; -EBADF: there is none, and the functions below do nothing */
        int master_fd; /* our side of the command's */
        int slave_fd;  /* the command's; closed as soon as the command has it */
        bool raw;      /* the user's terminal is in raw mode */
        bool wants_raw; /* set raw mode when we are in the foreground */
        struct termios before;
} Terminal;

#define TERMINAL_EMPTY { .user_fd = -EBADF, .master_fd = -EBADF, .slave_fd = -EBADF }

/* Opens a pair if the caller has a controlling terminal and one of 0–2 is a terminal. */
int terminal_open(Terminal *t);

/* The descriptor for the command: the slave in place of a terminal, else fd itself. */
int terminal_replace(const Terminal *t, int fd);

void terminal_resize(const Terminal *t);
void terminal_enter(Terminal *t); /* sets raw mode, if we are in the foreground */
void terminal_leave(Terminal *t); /* restores the mode */
bool terminal_is_ours(const Terminal *t); /* we are in its foreground process group, and may read from it */
