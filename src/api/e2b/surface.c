/* surface.c: what this surface registers: its tables of routes, who claims a request, and the state that it keeps. */

#include <errno.h>

#include "api/e2b/envd/envd.h"

static const ApiRoute *const e2b_control_tables[] = {
        e2b_control_routes,
        e2b_template_routes,
        e2b_volume_routes,
        e2b_secret_routes,
        NULL,
};

const ApiRoute *const e2b_envd_tables[] = {
        e2b_envd_routes,
        NULL,
};

const ApiRoute *const e2b_interpreter_tables[] = {
        e2b_interpreter_routes,
        NULL,
};

static const ApiRoute *const e2b_claimed_tables[] = {
        e2b_envd_routes,
        e2b_interpreter_routes,
        NULL,
};

static int e2b_start(const Api *api, void **ret, Error *reterr) {
        *ret = fs_watchers_new();
        return *ret ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

static void e2b_stop(void *state) {
        (void) fs_watchers_free(state);
}

FsWatchers *fs_watchers_of(const Api *api) {
        return api_surface_state(api, &e2b_surface);
}

const ApiSurface e2b_surface = {
        .name = "e2b",
        .tables = e2b_control_tables,
        .claimed = e2b_claimed_tables,
        .claims = e2b_target_find,
        .admit = e2b_target_admit,
        .start = e2b_start,
        .stop = e2b_stop,
};
