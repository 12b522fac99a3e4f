/* generation.h: whether the store is the newest that this directory has had.
 *
 * A number in the store and in DIR/generation, one more with each start and each orderly end. A store that has a smaller one is an older copy, or new; then it is
 * in doubt, and so is everything that it says is not there: Manager.doubts_store. That is written down, and over when nothing is in quarantine any more.
 * Must not know: what is in doubt. */
#pragma once

#include "core/manager.h"

int generation_begin(Manager *m, Error *reterr);
void generation_end(Manager *m);     /* an orderly end */
void generation_settled(Manager *m); /* nothing is there that the store does not know */
