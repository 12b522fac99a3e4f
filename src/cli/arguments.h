/* arguments.h: our own command line, as others see it.
 *
 * PID 1 of a sandbox is a fork of us, and /proc/1/cmdline is open to every guest: it would tell the host paths and values
 * that cove was called with. One per process, as the command line is. */
#pragma once

/* At the very start. */
void arguments_remember(int argc, char **argv);

/* In the new process: overwrites all of it with a name. Whoever still needs the words must have copied them. */
void arguments_replace(const char *name);
