/* dockerfile.h: a Dockerfile's text becomes a plan.
 *
 * What docker itself makes of it is the measure; what cannot be had here (mounts of secrets, other platforms, ONBUILD, URLs in ADD) is refused by its line with what to do instead, and
 * what has no meaning here (HEALTHCHECK, STOPSIGNAL, VOLUME) is read, checked and warned of.
 * Pure. Must not know: sandboxes, images, files. */
#pragma once

#include "build/plan.h"

/* -EINVAL, -E2BIG, -ENOENT: "FILE:LINE: what is wrong", with the nearest word where one was mistyped. */
int dockerfile_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr);
