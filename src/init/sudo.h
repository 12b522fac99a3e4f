/* sudo.h: runs commands of another user at a guest's request.
 *
 * A sandbox may allow its user to become root in it. Nothing in it is setuid, and no_new_privs stays: a program
 * inside asks (wire/sudo.h), and PID 1's side starts the command, behind the same walls as any other command of that
 * user (command.h).
 *
 *      PID 1          listens; forks a door when a client connects, and never reads, takes or closes anything that a guest has sent
 *       ├─ cove-door     accepts, waits for the request, forks a steward, ends when no more clients come
 *       └─ cove-steward  reads the request, starts the command, passes signals, reports its end; ends its whole tree when its client
 *                        hangs up, or the execution that the client belongs to is killed. Stays with the processes left behind
 *
 * Closing a descriptor may block (a socket that lingers), so a process that takes one from a guest may hang: only a
 * steward does, and it hangs for itself alone. Door and steward run as shims do: with PID 1's id, not dumpable. Only
 * guest root can kill them, which ends the processes that they look after.
 * Must not know: the daemon, who may become whom. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "init/shim.h"

typedef struct Sudo {
        const ShimSetting *setting;
        int listen_fd; /* -EBADF: sudo is disabled */
        pid_t door;    /* 0: none */
        usec_t again;  /* fork no door before this time; 0: at once */
} Sudo;

/* Binds the address before the first guest could. */
int sudo_init(Sudo *s, const ShimSetting *setting);

/* sudo_poll(): the descriptor to poll; -EBADF: sudo is disabled, a door is running, or it is too early. sudo_next():
 * when to call it again. */
int sudo_poll(const Sudo *s);
usec_t sudo_next(const Sudo *s);

void sudo_open_door(Sudo *s);

/* Handles the end of a child. True: it was a steward that died before its tree. */
bool sudo_reaped(Sudo *s, pid_t pid, int status);

/* Signal the commands requested from within one execution, or all commands, and the processes that they have left
 * behind. Called by PID 1 and shims. */
void sudo_signal(Board *board, int32_t record, uint64_t exec, int signal_number);
void sudo_signal_all(Board *board, int signal_number);

/* Main functions of the two processes. */
_noreturn_ void sudo_door_main(const ShimSetting *setting, int listen_fd);
_noreturn_ void sudo_steward_main(const ShimSetting *setting, SudoSlot *slot, int client_fd);
