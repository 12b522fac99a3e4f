/* kept.h: channels of processes that came into the sandbox by another way than ours.
 *
 * The daemon speaks with them, and gives us its end to keep, with a text that is its own, so that its death is not the end of the conversation.
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

/* Copies the descriptors; of the same process it replaces what there was. -ENOSPC. */
int kept_put(Kept *k, const GuestKept *what, const int fds[static GUEST_KEPT_FDS]);
void kept_forget(Kept *k, int32_t pid);

/* By number, of those whose process is still there; NULL: no more. */
const KeptChannel *kept_at(Kept *k, size_t number);
