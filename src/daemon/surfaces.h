/* surfaces.h: the surfaces that this daemon serves. This list is the one place that names them all. */
#pragma once

#include "api/surface.h"

extern const ApiSurface *const daemon_surfaces[]; /* ends with NULL */
