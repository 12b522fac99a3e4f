/* confine.h: how cove-archive shuts itself in.
 *
 * It parses what strangers made, with large libraries. It needs nothing for that but the descriptors it was started with: no
 * file can be opened, no process made, no socket, nothing executed; memory has a ceiling.
 * Call once, when everything is set up. Irrevocable. */
#pragma once

#include "base/error.h"

int archive_confine(unsigned n_descriptors, Error *reterr); /* those from 0 on stay */
