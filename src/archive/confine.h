/* confine.h: how cove-archive shuts itself in.
 *
 * It parses what strangers made, with large libraries. It needs nothing for that but the descriptors it was started with: no
 * file can be opened, no process made, no socket, nothing executed; memory has a ceiling. */
#pragma once

#include "confine/program.h"

void archive_walls(const void *options, ProgramWalls *ret);
