/* keep.h: a layer that outlives its sandbox (--keep).
 *
 * Runs outside, after the sandbox has ended. The guest has written the contents: no link is followed.
 * Must not know: the sandbox. */
#pragma once

#include <stdbool.h>

/* Removes the scaffolding from a kept layer (drawn in rootfs.h); root/ and the uppers stay, and shm/ if it is not
 * empty. everything: the command never ran, so remove all. By descriptor: the name may mean another directory by
 * now. */
int keep_tidy(int fd, bool everything);
