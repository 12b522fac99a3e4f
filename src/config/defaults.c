/* defaults.c: the configuration without a file. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"

/* Adds the five built-in profiles, which have no allocated members yet. */
static int defaults_profiles(Config *c) {
        const Profile *builtins;
        size_t n = profile_builtins(&builtins);

        c->profiles = calloc(n, sizeof(*c->profiles));
        if (!c->profiles)
                return -ENOMEM;
        memcpy(c->profiles, builtins, n * sizeof(*builtins));
        c->n_profiles = n;
        return 0;
}

int config_defaults(Config **ret) {
        _cleanup_config_ Config *c = calloc(1, sizeof(*c));
        int r = c ? yaml_defaults(&config_shape, c) : -ENOMEM;

        if (r >= 0)
                r = defaults_profiles(c);
        if (r >= 0)
                r = alerts_route_defaults(&c->alerts, (const bool[_SEVERITY_MAX]) { false });
        if (r >= 0)
                r = network_expand_packages(&c->network);
        if (r < 0)
                return r;
        c->read_at = clock_wall_usec();
        *ret = TAKE_PTR(c);
        return 0;
}

Config *config_free(Config *c) {
        if (c)
                shape_done(&config_shape, c);
        free(c);
        return NULL;
}
