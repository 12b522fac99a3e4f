/* generation.h: detects a store that is not the newest that this state directory has had.
 *
 * The store and DIR/generation both have a number, incremented by each start and each clean shutdown. A store with
 * the smaller number is an older copy, or new. It is in doubt then (Manager.doubts_store): that it has no row of an
 * object does not prove that the object is unused. The doubt is kept in the store, and ends when the quarantine is
 * empty.
 * Must not know: which objects are in doubt. */
#pragma once

#include "core/manager.h"

int generation_begin(Manager *m, Error *reterr);
void generation_end(Manager *m);     /* at a clean shutdown */
void generation_settled(Manager *m); /* ends the doubt: the quarantine is empty */
