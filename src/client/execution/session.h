/* session.h: a command that a person or a script interacts with.
 *
 * Connects a link to the client's own input, output, terminal and signals, until the command ends or the
 * client leaves. The terminal is restored on every way out.
 * Must not know: HTTP, which verb it is for. */
#pragma once

#include "cli/options.h"
#include "client/http/link.h"

#define SESSION_KEY_NONE (-1)

typedef enum SessionRole {
        SESSION_OWNS,   /* the command must not outlive us: a signal that ends us is sent to it first */
        SESSION_JOINS,  /* it continues without us, but Ctrl-C is sent to it */
        SESSION_WATCHES, /* it gets nothing from us, and its status is not ours */
} SessionRole;

typedef struct Session {
        SessionRole role;
        bool input;     /* our stdin is forwarded to the command */
        bool terminal;  /* the command has one: ours, if any, becomes raw, and its size is forwarded */
        int detach_key; /* leaves, while the command continues; SESSION_KEY_NONE: no such key */
} Session;

/* Takes ownership of the link; NULL: out of memory. Returns the exit status; all messages have been printed. */
int session_run(const Session *s, Link *link);

/* The kind of the option for that key: "^X", or "none", into an int. */
#define SESSION_KEY_DEFAULT ('\\' & 0x1f) /* Ctrl-\ */
OPTION_KIND(session_key);
#define OPTION_DETACH_KEY(type) .set = session_key, OPTION_FIELD(type, detach_key)
