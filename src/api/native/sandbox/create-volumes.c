/* create-volumes.c: the volumes of a new sandbox, and their mount points. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/make.h"
#include "api/native/sandbox/create.h"

#define TARGET_MAX 255

typedef struct Given {
        char *name, *path;
        bool read_only;
} Given;

static const Shape given_shape = SHAPE_FIELDS(
        { "name",     SHAPE_TEXT, offsetof(Given, name),      SHAPE_MANDATORY, .min = 1, .max = VOLUME_NAME_MAX },
        { "path",     SHAPE_TEXT, offsetof(Given, path),      SHAPE_MANDATORY, .min = 1, .max = TARGET_MAX },
        { "readOnly", SHAPE_BOOL, offsetof(Given, read_only), SHAPE_NULLABLE });

static void given_done(Given *g) {
        free(g->name);
        free(g->path);
}

static int add_given(ApiRequest *q, SandboxSpec *spec, json_t *item, size_t i, JsonComplaints *c) {
        _cleanup_(given_done) Given g = { 0 };
        char field[32];
        int r;

        (void) snprintf(field, sizeof(field), "volumes.%zu", i);
        r = shape_read(item, field, &given_shape, &g, c);
        if (r < 0 || !g.name || !g.path)
                return r; /* the complaint is recorded */
        return api_make_volume(q, spec, field, g.name, g.path, g.read_only, c);
}

/* Volumes of the snapshot or the other sandbox may have been removed since. */
static int check_inherited(ApiRequest *q, const SandboxSpec *spec, JsonComplaints *c) {
        State *s = q->api->rooms.state;

        for (size_t i = 0; i < spec->n_volumes; i++) {
                const Volume *v = s ? volume_find(s, &principal_daemon, spec->volumes[i].tree) : NULL;

                if (!v || v->tree.missing)
                        return json_complain(c, "volumes", "it had volume '%.100s' at '%.100s', which is gone: name the volumes that it shall have, or give []",
                                        spec->volumes[i].name, spec->volumes[i].target);
        }
        return 0;
}

int native_create_volumes(ApiRequest *q, CreateBody *b, JsonComplaints *c) {
        json_t *item;
        size_t i;
        int r = 0;

        if (!b->volumes)
                return check_inherited(q, &b->spec, c);
        if (!json_is_array(b->volumes))
                return json_complain(c, "volumes", "must be a list of {name, path, readOnly}");
        if (json_array_size(b->volumes) > SANDBOX_VOLUMES_MAX)
                return json_complain(c, "volumes", "%zu are more than %d", json_array_size(b->volumes), SANDBOX_VOLUMES_MAX);
        sandbox_volumes_done(&b->spec); /* a list in the request replaces the inherited one */
        json_array_foreach(b->volumes, i, item) {
                r = add_given(q, &b->spec, item, i, c);
                if (r < 0)
                        return r;
        }
        return 0;
}
