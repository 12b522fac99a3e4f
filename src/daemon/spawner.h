/* spawner.h: starting cove-spawner, while we still are who may. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

/* Gives back our end of the channel, non-blocking. */
int spawner_start(const char *instance, const Strv *templates, int *ret_fd, Error *reterr);
