/* verbs.h: the verbs that speak to a daemon, one file each; some that differ by a word share one.
 *
 * A verb gets its own words, its name first, and returns the exit status. */
#pragma once

#include "cli/verbs.h"

#define EXIT_SIGPIPE (EXIT_SIGNAL_BASE + 13)

int verb_attach(int argc, char **argv);
int verb_audit(int argc, char **argv);
int verb_completion(int argc, char **argv);
int verb_cp(int argc, char **argv);
int verb_create(int argc, char **argv);
int verb_exec(int argc, char **argv);
int verb_inspect(int argc, char **argv);
int verb_key(int argc, char **argv);
int verb_logs(int argc, char **argv);
int verb_ls(int argc, char **argv);
int verb_pause(int argc, char **argv);
int verb_profile(int argc, char **argv);
int verb_pool(int argc, char **argv);
int verb_ps(int argc, char **argv);
int verb_resume(int argc, char **argv);
int verb_rm(int argc, char **argv);
int verb_shell(int argc, char **argv);
int verb_start(int argc, char **argv);
int verb_stats(int argc, char **argv);
int verb_stop(int argc, char **argv);
int verb_tenant(int argc, char **argv);
int verb_timeout(int argc, char **argv);
int verb_top(int argc, char **argv);
int verb_wait(int argc, char **argv);
