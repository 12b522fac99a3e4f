/* title.h: what ps shows of a process: its name, and its arguments in place of those it was started with.
 *
 * PID 1 of a sandbox is a fork of us, and /proc/1/cmdline is open to every guest: it would tell the host paths and values that
 * we were called with. Arguments that are still needed must be copied first. Knows libc only. */
#pragma once

void title_init(int argc, char **argv);
void title_set(const char *name);
