/* stranger.h: unauthenticated calls: the first few are recorded, the others are counted.
 *
 * Any client that can reach the port can make as many calls as the machine can handle. If each call were
 * recorded, clients could fill the disk; if none were, an attack would leave no trace. So in each time
 * window, some calls of each peer and outcome are recorded (core/stranger.h has the numbers). At the end of
 * the window, one audit record and one log line summarize the others: how many, with which outcome, and from
 * where. Refused calls and successful ones (of a public port) are counted separately, so that a flood of one
 * kind does not hide the other. An IPv6 peer is its /64 network.
 * Must not know: routes, what a call was about. */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "core/manager.h"

struct Audit;
typedef struct Strangers Strangers;

int strangers_new(sd_event *event, Manager *m, struct Audit *audit, Strangers **ret);
Strangers *strangers_free(Strangers *s); /* reports what is left */

/* Adds a call. True: record it; false: it was only counted. remote: as printed by http_peer_print(). s NULL:
 * record all calls. */
bool strangers_admit(Strangers *s, const char *remote, unsigned status);
