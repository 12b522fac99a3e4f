/* image.h: disk images, made beside the loop.
 *
 * A file system is made by a program and takes tens of milliseconds. A process of its own waits for it and sends the mount.
 * Must not know: what comes after. */
#pragma once

#include <poll.h>

#include "spawner/creation.h"

#define IMAGES_MAX 32

/* Takes what the creation holds, on success; creation_run() follows when the image is there. */
int image_start(Spawner *s, Creation *c, Error *reterr);

/* Nobody wants it any more: the creation is answered with that. */
void image_cancel(Spawner *s, const char *id);

bool image_is_making(const Spawner *s, const char *id);

/* In the order in which image_poll() filled them in. */
size_t image_poll(const Spawner *s, struct pollfd ret[static IMAGES_MAX]);
void image_handle(Spawner *s, const struct pollfd *fds, size_t n);
