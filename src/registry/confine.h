/* confine.h: the confinement of cove-registry.
 *
 * It talks to untrusted servers and parses what they send. It keeps: the network (pull, push), the directory
 * of blobs, and read access to the files that name lookup and certificate checks need. Where the kernel has
 * Landlock, it can open nothing else. It can start no process, execute nothing and gain no privilege; memory
 * has a ceiling. */
#pragma once

#include "confine/program.h"

void registry_walls(const void *options, ProgramWalls *ret);
