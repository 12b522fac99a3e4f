/* resolve.c: resolves references to secrets in environments. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/secret.h"
#include "vault/internal.h"

typedef struct Missing {
        VaultMissing each;
        void *userdata;
        Error *error;
        unsigned n;
} Missing;

/* Lists all of them in one sentence, as far as there is room. */
static void resolve_add_missing(Missing *m, const char *assignment, const char *text) {
        char variable[256];
        size_t used;

        (void) snprintf(variable, sizeof(variable), "%.*s", (int) strcspn(assignment, "="), assignment);
        if (m->each)
                m->each(variable, text, m->userdata);
        m->n++;
        if (!m->error)
                return;
        m->error->code = -ENOKEY;
        used = m->n == 1 ? 0 : strlen(m->error->text);
        (void) snprintf(m->error->text + used, sizeof(m->error->text) - used, "%s%s: %s", m->n == 1 ? "" : "; ", variable, text);
}

static bool is_absent(int r) {
        return r == -ENOENT || r == -EINVAL || r == -EBADMSG;
}

int vault_check_env(Vault *v, const char *tenant, const Strv *env, VaultMissing missing, void *userdata, Error *reterr) {
        Missing m = { missing, userdata, reterr, 0 };

        for (size_t i = 0; i < env->n; i++) {
                const char *name = secret_reference(env->items[i]);
                Error error = { 0 };
                size_t size = 0;
                char *value;
                int r = name ? vault_get(v, tenant, name, &value, &size, &error) : -EAGAIN;

                if (!name)
                        continue;
                if (r >= 0)
                        vault_wipe(value, size);
                else if (is_absent(r))
                        resolve_add_missing(&m, env->items[i], error.text);
                else
                        return error_set(reterr, r, "%s", error.text);
        }
        return (int) m.n;
}

/* Replaces the reference after the variable's name by the value. */
static int resolve_replace(char **assignment, const char *value, size_t size) {
        size_t n = strcspn(*assignment, "=") + 1;
        char *text = malloc(n + size + 1);

        if (!text)
                return -ENOMEM;
        memcpy(text, *assignment, n);
        memcpy(text + n, value, size);
        text[n + size] = '\0';
        free(*assignment);
        *assignment = text;
        return 0;
}

static int resolve_one(Vault *v, Sandbox *sb, const char *tenant, char **assignment, Error *reterr) {
        size_t size = 0;
        char *value;
        int r = vault_get(v, tenant, secret_reference(*assignment), &value, &size, reterr);

        if (r < 0)
                return r;
        r = vault_mask_remember(v, sb, value, size, reterr); /* before the sandbox can print it */
        if (r < 0)
                (void) error_prefix(reterr, r, "%.*s", (int) strcspn(*assignment, "="), *assignment);
        else if ((r = resolve_replace(assignment, value, size)) < 0)
                (void) error_set(reterr, r, "out of memory");
        vault_wipe(value, size);
        return r;
}

int vault_resolve_env(Vault *v, Sandbox *sb, const char *tenant, Strv *env, Error *reterr) {
        int r = vault_check_env(v, tenant, env, /* missing= */ NULL, NULL, reterr);

        if (r != 0)
                return r > 0 ? -ENOKEY : r;
        for (size_t i = 0; i < env->n && r >= 0; i++)
                if (secret_reference(env->items[i]))
                        r = resolve_one(v, sb, tenant, env->items + i, reterr);
        return r;
}
