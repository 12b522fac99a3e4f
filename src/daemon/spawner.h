/* spawner.h: starting cove-spawner, while we still are who may. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "config/config.h"

typedef struct SpawnerArguments {
        const char *instance;
        const Strv *templates;
        const char *state_dir;
        const Config *settings; /* its zygotes, and how long it may hang */
} SpawnerArguments;

/* Gives back our end of the channel, non-blocking. */
int spawner_start(const SpawnerArguments *a, int *ret_fd, Error *reterr);
