/* inspect.h: what is to be known of a root directory before something runs in it. */
#pragma once

#include "base/error.h"

int tree_inspect(int tree, const char *user, Error *reterr);
