/* startup.h: the program that a template brings along: started when a sandbox of it was made, and waited for until it serves.
 *
 * Both are ordinary executions, with the tags "start" and "ready", so that what they print can be read like everything else; they are no step of a recording,
 * because a replay makes its sandbox of the same template. Who takes the sandbox down when it fails is the asker.
 * Must not know: images, HTTP. */
#pragma once

#include "core/execution.h"

#define STARTUP_USEC (60 * USEC_PER_SEC) /* until it must be ready */

typedef struct Startup Startup;

/* r: 0, or negative with a text. Exactly once, and never before startup_begin() has returned; not at all after startup_cancel(). */
typedef void (*StartupDone)(int r, const char *text, void *userdata);

/* ready: a shell command that ends with 0 when the program serves; NULL: it is enough that it was started. */
int startup_begin(Sandbox *sb, const char *start, const char *ready, StartupDone done, void *userdata, Startup **ret, Error *reterr);
void startup_cancel(Startup *s);
