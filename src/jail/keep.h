/* keep.h: a layer that outlives its sandbox (--keep).
 *
 * Runs outside, after the end. What lies there was written by the guest: nothing is followed.
 * Must not know: the sandbox that was. */
#pragma once

#include <stdbool.h>

/* Takes the scaffolding out of a kept layer (rootfs.h draws it): what is left is root/, the uppers, and shm/ if there is
 * something in it. Or takes everything, when the command never ran. By descriptor: the name may mean another directory by
 * now. */
int keep_tidy(int fd, bool everything);
