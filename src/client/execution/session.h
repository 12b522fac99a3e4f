/* session.h: a command that a person, or a script, sits in front of.
 *
 * Ties a link to our own input, output, terminal and signals, until the command ends or we leave. The terminal is given back as
 * it was on every way out.
 * Must not know: HTTP, which verb it is for. */
#pragma once

#include "cli/options.h"
#include "client/http/link.h"

#define SESSION_KEY_NONE (-1)

typedef enum SessionRole {
        SESSION_OWNS,   /* the command shall not outlive us: what ends us is passed on to it first */
        SESSION_JOINS,  /* it goes on without us; Ctrl-C is for it all the same */
        SESSION_WATCHES, /* it does not know of us, and its status is not ours */
} SessionRole;

typedef struct Session {
        SessionRole role;
        bool input;     /* our stdin is the command's */
        bool terminal;  /* the command has one: our own, if there is one, goes raw, and its size along */
        int detach_key; /* leaves the command alone; SESSION_KEY_NONE: no key does */
} Session;

/* Takes the link; NULL: there was no memory for it. Returns the exit status; what there is to say has been said. */
int session_run(const Session *s, Link *link);

/* A kind of option for that key: "^X", or "none", into an int. */
#define SESSION_KEY_DEFAULT ('\\' & 0x1f) /* Ctrl-\ */
OPTION_KIND(session_key);
#define OPTION_DETACH_KEY(type) .set = session_key, OPTION_FIELD(type, detach_key)
