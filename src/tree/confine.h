/* confine.h: the confinement of cove-tree.
 *
 * It parses untrusted data with large libraries, and may write any user and group id. It keeps: the
 * descriptors that it was started with; files below its trees (Landlock; read-only trees cannot be written);
 * file capabilities such as CAP_CHOWN; threads; memory with a ceiling. It can create no process or socket,
 * execute nothing, mount nothing and signal no process. */
#pragma once

#include "confine/program.h"

void tree_walls(const void *options, ProgramWalls *ret);
