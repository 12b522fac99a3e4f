/* link.h: the current connection to the daemon.
 *
 * Sends without waiting. It holds back one answer that the socket did not take; one is enough, since the caller reads
 * no further request until that answer is sent.
 * Must not know: what the messages are about. */
#pragma once

#include <stdbool.h>

#include "wire/guest.h"

#define LINK_HELD_MAX 512
#define LINK_FDS_MAX  3

typedef struct InitLink {
        int fd; /* -EBADF: not connected */
        bool deaf; /* the daemon is gone. Its earlier requests can still be read, and must be carried out */
        uint8_t held[LINK_HELD_MAX];
        size_t held_size;
        int held_fds[LINK_FDS_MAX];
        size_t n_held_fds;
} InitLink;

#define LINK_EMPTY { .fd = -EBADF }

/* Replaces the connection and closes the old one. */
void link_replace_take(InitLink *l, int fd);
void link_close(InitLink *l);

/* 0, or -EAGAIN: no room. Any other failure means that the daemon is gone. fd: sent along; -EBADF: none. */
int init_link_send(InitLink *l, const GuestMessage *message, int fd);

int link_send_bare(InitLink *l, GuestType type); /* one that has no fields */

/* The same, but holds a message back if there is no room. */
void link_answer(InitLink *l, const GuestMessage *message, int fd);
void link_answer_fds(InitLink *l, const GuestMessage *message, const int *fds, size_t n_fds);

/* Sends the message held back. True: it could not be sent yet. */
bool link_flush(InitLink *l);
