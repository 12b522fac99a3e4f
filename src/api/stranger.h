/* stranger.h: calls of those who have proved nothing: the first few are written down, the others are counted.
 *
 * Whoever can reach the port can make as many calls as the machine bears. Were each a record, the disk would be theirs to fill; were none, an attempt would
 * leave no trace. So in a window of time some of each peer and outcome are told as they are (core/stranger.h has the figures), and when it ends one record
 * and one line tell how many more there were, of what, and from where. Calls that were refused and calls that were not (of a public port) are counted apart: a flood of
 * the one does not hide the other. IPv6 peers are told apart by their network of 64 bits.
 * Must not know: routes, what a call was about. */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "core/manager.h"

struct Audit;
typedef struct Strangers Strangers;

int strangers_new(sd_event *event, Manager *m, struct Audit *audit, Strangers **ret);
Strangers *strangers_free(Strangers *s); /* tells what is left */

/* One more call. True: write it down; false: it was counted. remote: as of http_peer_print(). NULL for all: nobody counts. */
bool strangers_admit(Strangers *s, const char *remote, unsigned status);
