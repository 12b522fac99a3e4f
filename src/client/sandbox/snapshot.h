/* snapshot.h: what the files of `cove snapshot` share. */
#pragma once

#include "client/usage.h"

int snapshot_tree(const Place *place, void *options, const Operands *words);
