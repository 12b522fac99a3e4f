/* dockerfile.h: parses a Dockerfile into a plan.
 *
 * It follows docker's behaviour. Unsupported input (mounts of secrets, other platforms, ONBUILD, URLs in ADD)
 * is refused with its line and an alternative. Instructions without a meaning here (HEALTHCHECK, STOPSIGNAL,
 * VOLUME) are parsed, checked and reported as warnings.
 * Pure. Must not know: sandboxes, images, files. */
#pragma once

#include "build/plan.h"

/* -EINVAL, -E2BIG, -ENOENT: "FILE:LINE: " and the problem; a misspelled word gets a suggestion. */
int dockerfile_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr);
