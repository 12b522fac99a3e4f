/* create-volumes.c: which volumes a sandbox gets, and where. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/create.h"
#include "base/path.h"

#define TARGET_MAX 255

/* Where the sandbox's own things are, nothing else goes; what overlaps would hide the other. The spawner asks the same. */
static int check_target(const SandboxSpec *spec, const char *field, const char *target, JsonComplaints *c) {
        static const char *const own[] = { "/proc", "/sys", "/dev" };

        if (strcmp(target, "/") == 0)
                return json_complain(c, field, "a volume cannot be the root directory");
        for (size_t i = 0; i < ELEMENTSOF(own); i++)
                if (path_is_below(target, own[i]))
                        return json_complain(c, field, "'%.100s' is in %s, which is the sandbox's own", target, own[i]);
        for (size_t i = 0; i < spec->n_volumes; i++)
                if (path_is_below(target, spec->volumes[i].target) || path_is_below(spec->volumes[i].target, target))
                        return json_complain(c, field, "'%.100s' overlaps '%.100s'", target, spec->volumes[i].target);
        return 1;
}

typedef struct Given {
        char *name, *path;
        bool read_only;
} Given;

static const JsonField given_fields[] = {
        { "name",     json_field_string, offsetof(Given, name),      JSON_MANDATORY, .min = 1, .max = VOLUME_NAME_MAX },
        { "path",     json_field_string, offsetof(Given, path),      JSON_MANDATORY, .min = 1, .max = TARGET_MAX },
        { "readOnly", json_field_bool,   offsetof(Given, read_only), JSON_NULLABLE },
};
static const JsonField given_table = { .fields = given_fields, .n_fields = ELEMENTSOF(given_fields) };

static void given_done(Given *g) {
        free(g->name);
        free(g->path);
}

static int add(ApiRequest *q, SandboxSpec *spec, const char *field, const Given *g, JsonComplaints *c) {
        Principal owner = { .scope = q->who.scope, .tenant = spec->tenant && *spec->tenant ? spec->tenant : q->who.tenant };
        State *s = q->api->rooms.state;
        const Volume *v = s ? volume_find(s, &owner, g->name) : NULL;
        _cleanup_free_ char *target = NULL;
        char path_field[64];
        int r;

        (void) snprintf(path_field, sizeof(path_field), "%s.path", field);
        if (!v || strcmp(v->tenant, owner.tenant ? owner.tenant : "") != 0)
                return json_complain(c, field, "there is no volume '%.100s': `cove volume create %.100s` makes one", g->name, g->name);
        if (v->missing)
                return json_complain(c, field, "the files of volume '%s' are gone from the depot: it can only be removed", v->name);
        r = path_normalize(g->path, &target);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return json_complain(c, path_field, "'%.100s' must be an absolute path without '..'", g->path);
        r = check_target(spec, path_field, target, c);
        return r <= 0 ? r : sandbox_spec_add_volume(spec, v->name, v->id, target, !g->read_only);
}

static int add_given(ApiRequest *q, SandboxSpec *spec, json_t *item, size_t i, JsonComplaints *c) {
        _cleanup_(given_done) Given g = { 0 };
        char field[32];
        int r;

        (void) snprintf(field, sizeof(field), "volumes.%zu", i);
        r = json_field_object(&given_table, item, field, &g, c);
        if (r < 0 || !g.name || !g.path)
                return r; /* it was said what is wrong */
        return add(q, spec, field, &g, c);
}

/* Those that came with a snapshot or from another sandbox may be gone meanwhile. */
static int check_inherited(ApiRequest *q, const SandboxSpec *spec, JsonComplaints *c) {
        State *s = q->api->rooms.state;

        for (size_t i = 0; i < spec->n_volumes; i++) {
                const Volume *v = s ? volume_find(s, &(Principal) { .scope = SCOPE_ADMIN }, spec->volumes[i].tree) : NULL;

                if (!v || v->missing)
                        return json_complain(c, "volumes", "it had volume '%.100s' at '%.100s', which is gone: say which it shall have, or []",
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
        sandbox_volumes_done(&b->spec); /* those that came with a snapshot: who says some says all */
        json_array_foreach(b->volumes, i, item) {
                r = add_given(q, &b->spec, item, i, c);
                if (r < 0)
                        return r;
        }
        return 0;
}
