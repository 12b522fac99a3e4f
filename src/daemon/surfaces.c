#include "daemon/surfaces.h"

#include "api/e2b/e2b.h"
#include "api/native/native.h"
#include "api/preview/preview.h"

const ApiSurface *const daemon_surfaces[] = {
        &e2b_surface,     /* before previews: a name below both domains is a preview, unless this surface made the sandbox */
        &preview_surface,
        &native_surface,
        NULL,
};
