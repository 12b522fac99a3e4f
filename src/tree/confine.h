/* confine.h: how cove-tree shuts itself in.
 *
 * It takes apart what strangers made, with large libraries, as somebody who may write any id. What is left to it: the descriptors that it was
 * started with, files below its trees (Landlock; those that are only looked at cannot be written), capabilities about files, memory with a
 * ceiling, threads. No process, nothing executed, no socket, no mount, nobody signalled.
 * Call once, before a byte is read. Irrevocable. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

#define TREES_FIRST 4
#define TREES_MAX   3

int tree_confine(unsigned n_trees, bool first_is_written, Error *reterr);
