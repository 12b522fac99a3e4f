/* ask.h: connects to PID 1 and sends the request. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/strv.h"
#include "wire/sudo.h"

/* Connects to PID 1 and checks that the peer is PID 1. -ECONNREFUSED: sudo is disabled in this sandbox. */
int ask_connect(Error *reterr);

typedef struct Asking {
        uint32_t uid, gid;
        const char *directory;
        const Strv *command, *environment;
        int fds[3];
        int terminal_fd; /* -EBADF: none */
        bool stays;
} Asking;

int ask_send(int fd, const Asking *a, Error *reterr);
