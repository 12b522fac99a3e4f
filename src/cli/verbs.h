/* verbs.h: the verbs of the cove program, one file each.
 *
 * A verb gets its own words, its name first, and returns the exit status. verbs.def lists all verbs; those
 * that talk to a daemon are in src/client. */
#pragma once

int verb_doctor(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_version(int argc, char **argv);

/* For verbs of another program: executes that program. Returns only on failure, after printing the reason.
 * argv is main()'s, without its first word. */
int become_client(int argc, char **argv);
int become_daemon(int argc, char **argv);

#define EXIT_OWN_FAILURE    125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127
#define EXIT_TIMED_OUT      124
#define EXIT_SIGNAL_BASE    128
