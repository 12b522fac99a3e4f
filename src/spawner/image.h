/* image.h: disk images, made beside the loop.
 *
 * A program makes the file system, which takes tens of milliseconds. A child waits for it and sends the mount.
 * Must not know: the steps that follow. */
#pragma once

#include <poll.h>

#include "spawner/creation.h"

#define IMAGES_MAX 32

/* On success takes the creation's descriptors, and calls creation_run() when the image is ready. */
int image_start(Spawner *s, Creation *c, Error *reterr);

/* Cancels the creation and answers it with a failure. */
void image_cancel(Spawner *s, const char *id);

bool image_is_making(const Spawner *s, const char *id);

/* In the order in which image_poll() filled them in. */
size_t image_poll(const Spawner *s, struct pollfd ret[static IMAGES_MAX]);
void image_handle(Spawner *s, const struct pollfd *fds, size_t n);
