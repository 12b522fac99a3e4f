/* surface.c: the definition of this surface. It has no routes: the address of a request shows that it is for
 * a preview. */

#include "api/preview/preview.h"

static int preview_start(const Api *api, void **ret, Error *reterr) {
        Previews *p = NULL;
        int r = previews_new(api->manager, &p, reterr);

        *ret = p;
        return r;
}

static void preview_stop(void *state) {
        (void) previews_free(state);
}

Previews *previews_of(const Api *api) {
        return api_surface_state(api, &preview_surface);
}

static bool preview_passes_on(const ApiTarget *t) {
        return true;
}

static const ApiRoute *const preview_tables[] = { preview_route, NULL };

const ApiSurface preview_surface = {
        .name = "preview",
        .claimed = preview_tables,
        .claims = preview_find,
        .admit = preview_admit,
        .passes_on = preview_passes_on,
        .start = preview_start,
        .stop = preview_stop,
};
