/* kept.h: channels of processes that PID 1 has not started (a zygote's children).
 *
 * The daemon talks to them and gives PID 1 a copy of its end, with a text of its own, so that the channel survives the
 * daemon's death.
 * Must not know: connections, what the texts mean. */
#pragma once

#include "wire/guest.h"

typedef struct KeptChannel {
        int32_t pid; /* inside */
        int fds[GUEST_KEPT_FDS];
        char text[GUEST_KEPT_TEXT_MAX];
} KeptChannel;

typedef struct Kept {
        size_t n;
        KeptChannel list[GUEST_KEPT_MAX];
} Kept;

/* Copies the descriptors; replaces an earlier entry of the same process. -ENOSPC. */
int kept_put(Kept *k, const GuestKept *what, const int fds[static GUEST_KEPT_FDS]);
void kept_forget(Kept *k, int32_t pid);

/* The entry of that number, counting only processes that are alive; NULL: no more. */
const KeptChannel *kept_at(Kept *k, size_t number);
