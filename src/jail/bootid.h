/* bootid.h: the boot id of one life of a sandbox.
 *
 * Each PID 1 gets a random id, mounted over the kernel's. Programs detect a reboot by the boot id, and the host's own
 * id would show which sandboxes run on the same host. A pause in memory keeps the id; another PID 1 on the same disk
 * has another one.
 * Runs inside, as guest root: made in the directory of the writable layer, attached after /proc is mounted.
 * Must not know: why a life began. */
#pragma once

#include <stdint.h>

#include "base/error.h"

#define BOOTID_LENGTH 36

void bootid_format(const uint8_t bytes[static 16], char ret[static BOOTID_LENGTH + 1]);

typedef struct BootId {
        int tree;      /* a read-only file, detached; -EBADF: none */
        char name[64]; /* of that file, in the directory that becomes /dev/shm, until it is attached */
} BootId;

int bootid_make(BootId *ret, Error *reterr);

/* Mounts the file over the kernel's and removes its name. No effect where the kernel has no boot id. */
int bootid_attach(const BootId *b, Error *reterr);
