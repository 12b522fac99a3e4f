/* link.h: the connection to the daemon that counts.
 *
 * Sends without waiting. One answer that there was no room for is held back; until it has gone nobody should read more
 * requests, so one is enough.
 * Must not know: what the messages are about. */
#pragma once

#include <stdbool.h>

#include "wire/guest.h"

#define LINK_HELD_MAX 512
#define LINK_FDS_MAX  3

typedef struct InitLink {
        int fd; /* -EBADF: nobody is there */
        bool deaf; /* the other side is gone. What it has asked for before can still be read, and is to be done */
        uint8_t held[LINK_HELD_MAX];
        size_t held_size;
        int held_fds[LINK_FDS_MAX];
        size_t n_held_fds;
} InitLink;

#define LINK_EMPTY { .fd = -EBADF }

/* Takes the place of the one before, whose other side sees it end. */
void link_replace_take(InitLink *l, int fd);
void link_close(InitLink *l);

/* 0, or -EAGAIN: no room. Any other failure means that nobody hears us any more. fd: -EBADF, or sent along. */
int init_link_send(InitLink *l, const GuestMessage *message, int fd);

int link_send_bare(InitLink *l, GuestType type); /* one that has no fields */

/* The same, but what there is no room for is held back. */
void link_answer(InitLink *l, const GuestMessage *message, int fd);
void link_answer_fds(InitLink *l, const GuestMessage *message, const int *fds, size_t n_fds);

/* Whether something is held back that could not be sent yet. */
bool link_flush(InitLink *l);
