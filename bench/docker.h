/* docker.h: a private Docker daemon for the length of one bench.
 *
 * Its state, its socket and its log are in the scratch directory; it touches no firewall and makes no bridge; an image
 * of a few bytes is imported, no registry is asked. It needs root.
 * Must not know: what is measured.
 * The daemon is not stopped here: it ends with the pid namespace of scratch.h, and all its children with it. */
#pragma once

#include "base/error.h"

#define DOCKER_IMAGE "cove-bench"

/* Starts the daemon, waits until it answers, imports the root as DOCKER_IMAGE. */
int docker_start(const char *docker, const char *scratch_dir, const char *root, Error *reterr);
