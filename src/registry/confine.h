/* confine.h: how cove-registry shuts itself in.
 *
 * It hears strangers and takes apart what they send. It needs the network (pull, push), the directory of blobs, and to read what names and certificates
 * are looked up with; nothing else can be opened where the kernel has Landlock. No process, no program, no privilege; memory has a ceiling. */
#pragma once

#include "confine/program.h"

void registry_walls(const void *options, ProgramWalls *ret);
