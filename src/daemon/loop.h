/* loop.h: the loop of the daemon, in turns (core/settle.h).
 *
 * sd-event handles one source at a time. A turn ends when none is pending, and after so many sources or so much time, so
 * that under any load the first command of a turn waits for a few of the others only. */
#pragma once

#include <systemd/sd-event.h>

#include "core/settle.h"

int loop_run(sd_event *event, Settle *settle); /* until sd_event_exit(); its code */
