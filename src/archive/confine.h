/* confine.h: the confinement of cove-archive.
 *
 * It parses untrusted archives with large libraries, and needs only the descriptors that it was started with.
 * It can open no file, create no process or socket, and execute nothing. Its memory has a ceiling. */
#pragma once

#include "confine/program.h"

void archive_walls(const void *options, ProgramWalls *ret);
