/* creation.h: one sandbox, from the checked request to the answer.
 *
 * Must not know: how it is made (jail.h), what its PID 1 does (init/serve.h). */
#pragma once

#include "spawner/spawner.h"

typedef struct Creation {
        SpawnCreate request;
        uint32_t serial;
        int listen_fd;
        int hub_fd;  /* of the group to link it to; -EBADF: none */
        int disk_fd; /* a disk image made ahead, -EBADF: none */
} Creation;

void creation_done(Creation *c);

/* Whether it needs a disk image, which is slow to make. */
bool creation_wants_image(const Spawner *s, const Creation *c);

/* Makes the sandbox and answers, also on failure. Does not wait for its PID 1, which reports to coved itself. */
void creation_run(Spawner *s, const Creation *c);
