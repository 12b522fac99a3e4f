/* peer.h: the connection to coved: messages in, answers and events out.
 *
 * What the socket does not take at once waits, up to a ceiling: beyond it requests are not read and events are dropped, beyond the next one
 * coved is deaf and is hung up on (it comes again, and attaches what it has).
 * Must not know: what the messages say. */
#pragma once

#include "gate/gate.h"

typedef struct Peer Peer;

/* fds of the message: what is taken is -EBADF afterwards, the rest is closed. */
typedef void (*PeerMessage)(Gate *g, json_t *message, int *fds, size_t n_fds);

typedef struct PeerEvents {
        PeerMessage message;
        PeerMessage broken; /* it was no message; all NULL and 0 */
        PeerMessage cut;    /* its descriptors are lost: there is no room for more */
        void (*gone)(Gate *g, void *userdata); /* hung up; the Peer is freed already */
        void *userdata;
} PeerEvents;

/* Takes fd. It is g->peer then, and g->control_fd; an older one is hung up on, without gone. */
int peer_new(Gate *g, int fd, const PeerEvents *events, Error *reterr);
Peer *peer_free(Peer *p);

/* Take the message. */
void peer_answer(Peer *p, json_t *message);
void peer_event(Peer *p, json_t *message);
