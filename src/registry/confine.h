/* confine.h: how cove-registry shuts itself in.
 *
 * It hears strangers and takes apart what they send. It needs the network (pull, push), the directory of blobs, and to read what names and certificates
 * are looked up with; nothing else can be opened where the kernel has Landlock. No process, no program, no privilege; memory has a ceiling.
 * Call once, when the command line is read and its files are open. Irrevocable. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

int registry_confine(int blobs_fd, const char *ca, bool network, Error *reterr);
