/* surface.c: the definition of this surface: its tables of routes, the claiming of requests, and its state. */

#include <errno.h>
#include <stdlib.h>

#include "api/e2b/envd/envd.h"
#include "api/e2b/template/templates.h"

static const ApiRoute *const e2b_control_tables[] = {
        e2b_control_routes,
        e2b_template_routes,
        e2b_volume_routes,
        e2b_secret_routes,
        e2b_team_routes,
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

typedef struct E2bState {
        FsWatchers *watchers;
        E2bUploads *uploads;
} E2bState;

static void e2b_stop(void *state) {
        E2bState *s = state;

        (void) fs_watchers_free(s->watchers);
        (void) e2b_uploads_free(s->uploads);
        free(s);
}

static int e2b_start(const Api *api, void **ret, Error *reterr) {
        E2bState *s = calloc(1, sizeof(*s));
        int r;

        if (s)
                s->watchers = fs_watchers_new();
        r = s && s->watchers ? e2b_uploads_new(api->manager, &s->uploads, reterr) : error_set(reterr, -ENOMEM, "out of memory");
        if (r < 0) {
                if (s)
                        e2b_stop(s);
                return r;
        }
        *ret = s;
        return 0;
}

FsWatchers *fs_watchers_of(const Api *api) {
        const E2bState *s = api_surface_state(api, &e2b_surface);

        return s->watchers;
}

E2bUploads *e2b_uploads_of(const Api *api) {
        const E2bState *s = api_surface_state(api, &e2b_surface);

        return s->uploads;
}

const ApiSurface e2b_surface = {
        .name = "e2b",
        .tables = e2b_control_tables,
        .claimed = e2b_claimed_tables,
        .claims = e2b_target_find,
        .admit = e2b_target_admit,
        .passes_on = e2b_target_passes_on,
        .start = e2b_start,
        .stop = e2b_stop,
};
