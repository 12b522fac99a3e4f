/* sudo.h: commands of another user, for whoever asks from within.
 *
 * A sandbox may be one whose user can become root in it. Nothing in it is setuid, and no_new_privs stays: a program inside asks
 * (wire/sudo.h), and PID 1's side starts the command, behind the very walls of any other command of that user (command.h).
 *
 *      PID 1          listens; forks a door when somebody is there, and never reads, takes or closes anything that a guest has sent
 *       ├─ cove-door     accepts, waits for the request, forks a steward, ends when nobody comes any more
 *       └─ cove-steward  reads the request, starts the command, passes signals, tells its end; ends its whole tree when its client
 *                        hangs up, or the execution that the client belongs to is killed. Stays with what the command leaves behind
 *
 * A descriptor may block whoever closes it (a socket that lingers), so whoever takes one may stand still: a steward, for itself alone.
 * Both run as shims do: as PID 1's id, not dumpable, killed by guest root at most, which ends what they look after.
 * Must not know: the daemon, who may become whom. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "init/shim.h"

typedef struct Sudo {
        const ShimSetting *setting;
        int listen_fd; /* -EBADF: nobody becomes anybody */
        pid_t door;    /* 0: none */
        usec_t again;  /* not before that; 0: at once */
} Sudo;

/* Takes the address, before there is a guest who could. */
int sudo_init(Sudo *s, const ShimSetting *setting);

/* What to wait for; -EBADF: nothing, or a door is there, or it is too early. When to look again. */
int sudo_poll(const Sudo *s);
usec_t sudo_next(const Sudo *s);

void sudo_open_door(Sudo *s);

/* A child has ended. True: one that should have looked after others. */
bool sudo_reaped(Sudo *s, pid_t pid, int status);

/* To commands that were asked for from within an execution, or to all, and whatever they have left behind. From PID 1 and shims. */
void sudo_signal(Board *board, int32_t record, uint64_t exec, int signal_number);
void sudo_signal_all(Board *board, int signal_number);

/* The processes. */
_noreturn_ void sudo_door_main(const ShimSetting *setting, int listen_fd);
_noreturn_ void sudo_steward_main(const ShimSetting *setting, SudoSlot *slot, int client_fd);
