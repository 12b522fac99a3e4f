/* title.h: sets the name that ps shows for a process, and overwrites its arguments with it.
 *
 * PID 1 of a sandbox is a fork of us, and every guest can read /proc/1/cmdline: it would reveal the host paths and
 * values that we were called with. The caller must first copy the arguments that it still needs. Knows libc only. */
#pragma once

void title_init(int argc, char **argv);
void title_set(const char *name);
