/* pty.h: a terminal of the sandbox's own devpts. Runs inside, as guest root. */
#pragma once

#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/types.h>

int pty_open(const struct winsize *window, uid_t uid, gid_t gid, bool single_id, int *ret_master, int *ret_slave);
