/* ailment.h: problems of the daemon as a whole, by name, from when they are noticed until they are over.
 *
 * The room that notices a problem reports its beginning and its end; GET /api/sandbox/health and `cove health`
 * show it. Each is logged once when it begins and once when it ends.
 * Must not know: who shows them, what they are about. */
#pragma once

#include "core/manager.h"

/* Reports a problem; repeated for the same name, it changes ill and the text. ill: the daemon cannot do its work;
 * else the problem needs the operator's attention. */
void manager_ail(Manager *m, const char *name, bool ill, const char *format, ...) _printf_(4, 5);
void manager_heal(Manager *m, const char *name); /* it is over; does nothing if it was not reported */
