/* ask.h: the request, and who it goes to. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/strv.h"
#include "wire/sudo.h"

/* To PID 1, and nobody else. -ECONNREFUSED: nobody becomes anybody in this sandbox. */
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
