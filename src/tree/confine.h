/* confine.h: how cove-tree shuts itself in.
 *
 * It takes apart what strangers made, with large libraries, as somebody who may write any id. What is left to it: the descriptors that it was
 * started with, files below its trees (Landlock; those that are only looked at cannot be written), capabilities about files, memory with a
 * ceiling, threads. No process, nothing executed, no socket, no mount, nobody signalled. */
#pragma once

#include "confine/program.h"

void tree_walls(const void *options, ProgramWalls *ret);
