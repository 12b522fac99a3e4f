/* make-volumes.c: adds a volume to the spec of a new sandbox. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/make.h"
#include "base/path.h"
#include "state/state.h"

/* A volume must not cover the sandbox's own directories. Volumes must not overlap, because one would hide
 * the other. The spawner checks the same. */
static int make_volumes_check_target(const SandboxSpec *spec, const char *field, const char *target, JsonComplaints *c) {
        static const char *const own[] = { "/proc", "/sys", "/dev" };

        if (strcmp(target, "/") == 0)
                return json_complain(c, field, "a volume cannot be the root directory");
        for (size_t i = 0; i < ELEMENTSOF(own); i++)
                if (path_is_below(target, own[i]))
                        return json_complain(c, field, "'%.100s' is in %s, which belongs to the sandbox itself", target, own[i]);
        for (size_t i = 0; i < spec->n_volumes; i++)
                if (path_is_below(target, spec->volumes[i].target) || path_is_below(spec->volumes[i].target, target))
                        return json_complain(c, field, "'%.100s' overlaps '%.100s'", target, spec->volumes[i].target);
        return 1;
}

int api_make_volume(ApiRequest *q, SandboxSpec *spec, const char *field, const char *name, const char *path, bool read_only, JsonComplaints *c) {
        Principal owner = { .kind = q->who.kind, .tenant = spec->tenant && *spec->tenant ? spec->tenant : q->who.tenant };
        State *s = q->api->rooms.state;
        const Volume *v = s ? volume_find(s, &owner, name) : NULL;
        _cleanup_free_ char *target = NULL;
        char path_field[64];
        int r;

        (void) snprintf(path_field, sizeof(path_field), "%s.path", field);
        if (!v || strcmp(v->tree.tenant, owner.tenant ? owner.tenant : "") != 0)
                return json_complain(c, field, "there is no volume '%.100s': `cove volume create %.100s` makes one", name, name);
        if (v->tree.missing)
                return json_complain(c, field, "the files of volume '%s' are gone from the depot: it can only be removed", v->tree.name);
        r = path_normalize(path, &target);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return json_complain(c, path_field, "'%.100s' must be an absolute path without '..'", path);
        r = make_volumes_check_target(spec, path_field, target, c);
        return r <= 0 ? r : sandbox_spec_add_volume(spec, v->tree.name, v->tree.id, target, !read_only);
}
