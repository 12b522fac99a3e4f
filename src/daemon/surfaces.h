/* surfaces.h: the surfaces that this daemon serves. Only this list names them all. */
#pragma once

#include "api/surface.h"

extern const ApiSurface *const daemon_surfaces[]; /* ends with NULL */
