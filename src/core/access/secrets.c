#include "core/secrets.h"

#include <errno.h>
#include <string.h>

#include "core/manager.h"
#include "core/secret.h"

const char *secret_reference(const char *assignment) {
        const char *equals = strchr(assignment, '=');

        if (!equals || strncmp(equals + 1, SECRET_PREFIX, strlen(SECRET_PREFIX)) != 0)
                return NULL;
        return equals + 1 + strlen(SECRET_PREFIX);
}

static const char *first_reference(const Strv *env) {
        for (size_t i = 0; i < env->n; i++)
                if (secret_reference(env->items[i]))
                        return env->items[i];
        return NULL;
}

static int core_secrets_refuse(const char *reference, Error *reterr) {
        return error_set(reterr, -EOPNOTSUPP, "%.200s: this daemon keeps no secrets", reference);
}

int secrets_allow(const Principal *who, const Strv *env, Error *reterr) {
        const char *first = first_reference(env);
        int r = first ? principal_check(who, MAY_SECRETS, reterr) : 0;

        return r < 0 ? error_prefix(reterr, r, "%.*s", (int) MIN_OF(strcspn(first, "="), (size_t) 200), first) : 0;
}

int secrets_check(Manager *m, const Principal *who, const char *tenant, const Strv *env, Error *reterr) {
        const char *first = first_reference(env);
        int r = secrets_allow(who, env, reterr);

        if (r < 0 || !first)
                return r;
        return m->secrets ? m->secrets->check(m->secrets->userdata, tenant ? tenant : "", env, reterr) : core_secrets_refuse(first, reterr);
}

int secrets_resolve(Sandbox *sb, Strv *env, Error *reterr) {
        const SecretKeeper *k = sb->manager->secrets;
        const char *first = first_reference(env);

        if (!first)
                return 0;
        return k ? k->resolve(k->userdata, sb, env, reterr) : core_secrets_refuse(first, reterr);
}

void secrets_strv_done(Strv *v) {
        for (size_t i = 0; i < v->n; i++)
                secret_wipe(v->items[i], strlen(v->items[i]));
        strv_done(v);
}
