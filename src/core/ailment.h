/* ailment.h: what is wrong with the daemon as a whole, by name, from when it is noticed until it is over.
 *
 * Who notices says so, and says when it is over; GET /api/sandbox/health and `cove health` tell it. Each is logged once when it begins and once when it ends.
 * Must not know: who looks, what it is about. */
#pragma once

#include "core/manager.h"

/* One name is one ailment: said again, only its text changes. ill: the daemon cannot do its work; else it needs somebody's attention. */
void manager_ail(Manager *m, const char *name, bool ill, const char *format, ...) _printf_(4, 5);
void manager_heal(Manager *m, const char *name); /* nothing, where it was not said */
