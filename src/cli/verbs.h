/* verbs.h: what the cove program can be asked to do, one file each.
 *
 * A verb gets its own words, its name first, and returns the exit status. */
#pragma once

int verb_doctor(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_version(int argc, char **argv);

#define EXIT_OWN_FAILURE    125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127
#define EXIT_TIMED_OUT      124
#define EXIT_SIGNAL_BASE    128
