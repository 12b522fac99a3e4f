/* peer.h: the connection to coved: receives messages, sends answers and events.
 *
 * Messages that the socket does not accept at once wait in a queue. Above a first limit, requests are not
 * read and events are dropped. Above a second limit, coved is considered stuck and the gate hangs up; coved
 * then reconnects and attaches its sandboxes.
 * Must not know: what the messages say. */
#pragma once

#include "gate/gate.h"

typedef struct Peer Peer;

/* fds: the message's descriptors. The callback sets those that it takes to -EBADF; the rest is closed. */
typedef void (*PeerMessage)(Gate *g, json_t *message, int *fds, size_t n_fds);

typedef struct PeerEvents {
        PeerMessage message;
        PeerMessage broken; /* invalid message; all arguments NULL and 0 */
        PeerMessage cut;    /* the message's descriptors are lost: this process has reached its limit */
        void (*gone)(Gate *g, void *userdata); /* coved has hung up; the Peer is already freed */
        void *userdata;
} PeerEvents;

/* Takes ownership of fd and sets g->peer and g->control_fd. An older Peer is freed without a call of gone. */
int peer_new(Gate *g, int fd, const PeerEvents *events, Error *reterr);
Peer *peer_free(Peer *p);

/* Both take ownership of the message. */
void peer_answer(Peer *p, json_t *message);
void peer_event(Peer *p, json_t *message);
