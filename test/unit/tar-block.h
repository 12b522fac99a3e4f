/* tar-block.h: blocks of tar that a test has changed. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "client/files/tar.h"

/* So that the block is read for what it says. */
static inline void tar_fit_checksum(uint8_t *block) {
        unsigned sum = 0;
        char text[16];

        memset(block + 148, ' ', 8);
        for (size_t i = 0; i < TAR_BLOCK; i++)
                sum += block[i];
        (void) snprintf(text, sizeof(text), "%06o", sum);
        memcpy(block + 148, text, 7);
}
