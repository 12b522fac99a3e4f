/* bootid.h: the boot id of one life of a sandbox.
 *
 * A random one for each PID 1, where the kernel shows its own: programs tell by it whether the machine was started anew, and the
 * host's would tell sandboxes of one host by it. A pause in memory leaves it, another PID 1 on the same disk has another.
 * Runs inside, as guest root: made in the directory of the writable layer, attached when /proc is there.
 * Must not know: why a life began. */
#pragma once

#include <stdint.h>

#include "base/error.h"

#define BOOTID_LENGTH 36

void bootid_format(const uint8_t bytes[static 16], char ret[static BOOTID_LENGTH + 1]);

typedef struct BootId {
        int tree;      /* a read-only file, detached; -EBADF: none */
        char name[64]; /* of that file, in what becomes /dev/shm, until it is in its place */
} BootId;

int bootid_make(BootId *ret, Error *reterr);

/* Over the kernel's, and from there on without a name of its own. Nothing where the kernel has none. */
int bootid_attach(const BootId *b, Error *reterr);
