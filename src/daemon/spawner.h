/* spawner.h: starts cove-spawner, before coved drops its privileges. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "config/config.h"

typedef struct SpawnerArguments {
        const char *instance;
        const Strv *templates;
        const char *state_dir;
        const Config *settings; /* for its zygotes, and the limit for its silence */
} SpawnerArguments;

/* Returns coved's end of the channel, non-blocking. */
int spawner_start(const SpawnerArguments *a, int *ret_fd, Error *reterr);
