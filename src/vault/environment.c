/* environment.c: secrets in the daemon's environment, which the operator sets. */

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "core/secret.h"
#include "vault/internal.h"

int vault_take_environment(const Strv *names, Strv *ret) {
        for (size_t i = 0; i < names->n; i++) {
                char *value = getenv(names->items[i]), *assignment;
                size_t n = strlen(names->items[i]);
                int r;

                if (!value)
                        continue;
                assignment = malloc(n + 1 + strlen(value) + 1);
                if (!assignment)
                        return -ENOMEM;
                (void) stpcpy(stpcpy(stpcpy(assignment, names->items[i]), "="), value);
                r = strv_push_take(ret, assignment);
                if (r < 0) {
                        secret_wipe(assignment, strlen(assignment));
                        free(assignment);
                        return r;
                }
                secret_wipe(value, strlen(value)); /* this memory is shown in /proc */
                (void) unsetenv(names->items[i]);
        }
        return 0;
}

bool environment_is_listed(const Vault *v, const char *name) {
        const Strv *names = &v->manager->settings->secrets.environment;

        for (size_t i = 0; i < names->n; i++)
                if (strcmp(names->items[i], name) == 0)
                        return true;
        return false;
}

/* Variables that were listed at the start are out of the environment; those listed since are still in it. */
const char *environment_get(const Vault *v, const char *name) {
        const char *value;

        if (!environment_is_listed(v, name))
                return NULL;
        value = v->environment ? strv_get_env(v->environment, name) : NULL;
        return value ? value : getenv(name);
}
