/* inspect.h: facts about a root directory that are needed before anything runs in it. */
#pragma once

#include "base/error.h"

int tree_inspect(int tree, const char *user, Error *reterr);
