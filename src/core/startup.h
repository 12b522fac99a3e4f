/* startup.h: runs the start command of a template in a new sandbox, and waits until its ready command succeeds.
 *
 * Both are ordinary executions, with the tags "start" and "ready", so that their output can be read like any other.
 * They are not recorded, because a replay makes its sandbox from the same template. If they fail, the caller ends
 * the sandbox.
 * Must not know: images, HTTP. */
#pragma once

#include "core/execution.h"

#define STARTUP_USEC (60 * USEC_PER_SEC) /* timeout of the ready command */

typedef struct Startup Startup;

/* r: 0, or negative with a text. Called exactly once, and never before startup_begin() has returned; not at all
 * after startup_cancel(). */
typedef void (*StartupDone)(int r, const char *text, void *userdata);

/* ready: a shell command that exits with 0 when the program is ready; NULL: the program is ready when it has
 * started. */
int startup_begin(Sandbox *sb, const char *start, const char *ready, StartupDone done, void *userdata, Startup **ret, Error *reterr);
void startup_cancel(Startup *s);
