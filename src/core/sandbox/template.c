#include "core/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/manager.h"
#include "core/provider.h"
#include "core/secrets.h"
#include "core/trees.h"

#define NAMES_MAX 400 /* of all names, in an error */

void manager_set_templates(Manager *m, const TemplateKeeper *keeper) {
        m->templates = keeper;
}

const char *template_builtin(const char *name) {
        static const struct {
                const char *name, *means;
        } list[] = {
                { TEMPLATE_HOST,       TEMPLATE_HOST },
                { TEMPLATE_BASE,       TEMPLATE_BASE },
                { TEMPLATE_BASE_ALIAS, TEMPLATE_BASE },
        };

        for (size_t i = 0; i < ELEMENTSOF(list); i++)
                if (strcmp(list[i].name, name) == 0)
                        return list[i].means;
        return NULL;
}

/* A built-in template, or one of --template NAME=DIR. */
static bool is_own(const Manager *m, const char *name) {
        const Strv *list = m->config.templates;
        size_t n = strlen(name);

        if (template_builtin(name))
                return true;
        for (size_t i = 0; list && i < list->n; i++)
                if (strncmp(list->items[i], name, n) == 0 && list->items[i][n] == '=')
                        return true;
        return false;
}

static int template_refuse_unknown(const Manager *m, const char *name, Error *reterr) {
        const Strv *list = m->config.templates;
        char names[NAMES_MAX] = TEMPLATE_HOST ", " TEMPLATE_BASE;
        size_t used = strlen(names);

        for (size_t i = 0; list && i < list->n && used + 64 < sizeof(names); i++)
                used += (size_t) snprintf(names + used, sizeof(names) - used, ", %.*s", (int) MIN_OF(strcspn(list->items[i], "="), (size_t) 60),
                                list->items[i]);
        return error_set(reterr, -ENOENT, "there is no template '%s' (there are: %s%s)", name, names,
                        m->templates ? "; `cove template ls` shows those that were made" : "");
}

static int template_set_text(char **where, const char *text) {
        return text && *text ? string_copy(where, text) : 0;
}

/* A variable of the caller wins over one of the template. A reference to a secret is dropped: the author of an
 * image must not name a secret of its user. */
static int template_add_env(SandboxSpec *spec, const char *assignment) {
        char name[256];
        size_t n = strcspn(assignment, "=");

        if (n == 0 || n >= sizeof(name) || secret_reference(assignment))
                return 0;
        memcpy(name, assignment, n);
        name[n] = '\0';
        return strv_get_env(&spec->env, name) ? 0 : strv_set_env(&spec->env, assignment);
}

static int template_apply_env(SandboxSpec *spec, const TemplateView *t, bool user_given) {
        char home[300];
        int r = 0;

        for (size_t i = 0; i < t->env.n && r >= 0; i++)
                r = template_add_env(spec, t->env.items[i]);
        if (r < 0 || user_given || !t->home || !*t->home) /* another user has another home */
                return r;
        (void) snprintf(home, sizeof(home), "HOME=%s", t->home);
        return template_add_env(spec, home);
}

/* What the caller has chosen as the origin of the disk, a snapshot, wins over the template's layer. */
static int apply_ground(SandboxSpec *spec, const TemplateView *t) {
        int r = template_set_text(&spec->digest, t->digest);

        if (r >= 0)
                r = template_set_text(&spec->layer, t->layer);
        if (r >= 0 && !spec->layer)
                r = template_set_text(&spec->base, t->base && *t->base ? t->base : "host");
        if (r >= 0 && t->snapshot && *t->snapshot && !spec->snapshot)
                r = template_set_text(&spec->snapshot, t->snapshot);
        if (spec->snapshot)
                spec->persistent = true;
        return r;
}

static int core_template_apply(SandboxSpec *spec, const TemplateView *t, bool user_given, bool workdir_given) {
        int r = apply_ground(spec, t);

        if (r >= 0)
                r = template_apply_env(spec, t, user_given);
        if (r >= 0 && !workdir_given)
                r = template_set_text(&spec->workdir, t->workdir);
        if (t->has_user && !user_given) {
                spec->uid = t->uid;
                spec->gid = t->gid;
        }
        return r;
}

static int core_template_find(const Manager *m, const char *tenant, const char *name, TemplateView *ret, Error *reterr) {
        int r = m->templates ? m->templates->find(tenant ? tenant : "", name, ret, reterr, m->templates->userdata) : 0;

        return r == 0 ? template_refuse_unknown(m, name, reterr) : r;
}

int template_check(const Manager *m, const char *tenant, const char *name, Error *reterr) {
        TemplateView view = { 0 };

        return is_own(m, name) ? 0 : core_template_find(m, tenant, name, &view, reterr);
}

/* A sandbox on template "base" has the user of "base": it works in the home directory, and sudo is allowed, where it has
 * another user to become. */
static int apply_base(const Manager *m, SandboxSpec *spec, bool workdir_given) {
        if (strcmp(sandbox_spec_base(spec), TEMPLATE_BASE) != 0 || spec->layer)
                return 0;
        spec->sudo = !m->provider || !m->provider->one_user;
        if (workdir_given || spec->workdir)
                return 0;
        return template_set_text(&spec->workdir, spec->uid == 0 ? "/root" : "/home/user");
}

int template_apply(Manager *m, SandboxSpec *spec, bool user_given, bool workdir_given, Error *reterr) {
        TemplateView view = { 0 };
        const char *name = spec->template_name, *builtin = name ? template_builtin(name) : NULL;
        int r = 0;

        if (builtin && name != builtin)
                r = template_set_text(&spec->template_name, builtin);
        if (r >= 0 && builtin)
                r = apply_base(m, spec, workdir_given);
        if (r < 0)
                return error_set(reterr, r, "template '%s': %m", builtin);
        if (!name || builtin || is_own(m, name) || spec->layer || spec->base) /* for a snapshot, the base is known */
                return 0;
        r = core_template_find(m, spec->tenant, name, &view, reterr);
        if (r < 0)
                return r;
        if (view.layer && *view.layer && !trees_have_layers(m)) {
                (void) trees_have_disks(m, reterr); /* sets the error */
                return error_prefix(reterr, -EOPNOTSUPP, "template '%s'", name);
        }
        r = core_template_apply(spec, &view, user_given, workdir_given);
        if (r >= 0)
                r = apply_base(m, spec, workdir_given);
        return r < 0 ? error_set(reterr, r, "template '%s': %m", name) : 0;
}

int template_program(const Manager *m, const char *tenant, const char *name, char **ret_start, char **ret_ready) {
        TemplateView view = { 0 };
        Error error = { 0 };
        int r;

        *ret_start = *ret_ready = NULL;
        if (is_own(m, name) || core_template_find(m, tenant, name, &view, &error) < 0)
                return 0;
        r = template_set_text(ret_start, view.start_command);
        return r < 0 || !*ret_start ? r : template_set_text(ret_ready, view.ready_command);
}
