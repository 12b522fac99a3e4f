/* offline.h: what needs no daemon, but what the daemon's program knows: that is asked directly. */
#pragma once

/* Becomes coved with these words; argv[0] is its name. Comes back only to say that it could not, with the exit status. */
int offline_become_coved(const char *verb, char **argv);
