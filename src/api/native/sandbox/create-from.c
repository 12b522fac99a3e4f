/* create-from.c: a sandbox from a snapshot or another sandbox: values missing in the request are taken from
 * there. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/sandbox/create.h"
#include "base/shape.h"
#include "core/allowance.h"

static void inherit_text(char **said, char **base) {
        if (*said)
                return;
        *said = *base;
        *base = NULL;
}

/* Takes over all numbers that a snapshot stores and the request omits. */
static void inherit_numbers(SandboxSpec *spec, const SandboxSpec *base) {
        for (size_t i = 0; i < sandbox_spec_shape.n_fields; i++) {
                const ShapeField *f = sandbox_spec_shape.fields + i;

                if (shape_is_number(f) && f->flags & SPEC_OF_SNAPSHOT && !shape_is_said(&sandbox_spec_shape, spec, f))
                        (void) shape_set(f, spec, shape_get(f, base));
        }
}

/* Adds variables by name. The request's own values win. */
static int inherit_env(Strv *said, const Strv *base) {
        int r = 0;

        for (size_t i = 0; i < base->n && r >= 0; i++) {
                char *name = strndup(base->items[i], strcspn(base->items[i], "="));

                if (!name)
                        return -ENOMEM;
                if (!strv_get_env(said, name))
                        r = strv_push(said, base->items[i]);
                free(name);
        }
        return r;
}

static void inherit_policy(CreateBody *b, SandboxSpec *base) {
        if (b->policy || b->network || b->spec.profile) {
                b->spec.network = 0; /* these fields of the request decide */
                return;
        }
        inherit_text(&b->spec.policy, &base->policy);
        inherit_text(&b->spec.group, &base->group);
        b->spec.network = base->network;
        b->inherits_policy = true;
}

static void inherit_volumes(SandboxSpec *spec, SandboxSpec *base) {
        if (spec->n_volumes > 0)
                return;
        spec->volumes = base->volumes;
        spec->n_volumes = base->n_volumes;
        base->volumes = NULL;
        base->n_volumes = 0;
}

/* The base cannot be chosen. */
static int inherit_template(CreateBody *b, SandboxSpec *base, JsonComplaints *c) {
        SandboxSpec *spec = &b->spec;

        if (spec->template_name && strcmp(spec->template_name, base->template_name ? base->template_name : "host") != 0)
                return json_complain(c, "template", "the snapshot is based on '%s': omit this", base->template_name ? base->template_name : "host");
        if (sandbox_spec_said(spec, "persistent") && !spec->persistent)
                return json_complain(c, "persistent", "a sandbox from a snapshot is persistent: omit this");
        inherit_text(&spec->template_name, &base->template_name);
        inherit_text(&spec->layer, &base->layer);
        inherit_text(&spec->base, &base->base);
        inherit_text(&spec->digest, &base->digest);
        inherit_text(&spec->parent, &base->parent);
        spec->persistent = true;
        return 0;
}

static int create_from_inherit(const ApiRequest *q, CreateBody *b, SandboxSpec *base, JsonComplaints *c) {
        SandboxSpec *spec = &b->spec;
        int r = inherit_template(b, base, c);

        if (r < 0)
                return r;
        inherit_numbers(spec, base);
        inherit_policy(b, base);
        if (!spec->profile) {
                spec->limits = base->limits;
                b->inherits_profile = true; /* the spec contains the effects of the profile already */
                inherit_text(&spec->profile, &base->profile);
        }
        r = b->inherits_policy ? allowance_take_policy(q->manager, &q->who, spec) : 0;
        if (r < 0)
                return r;
        inherit_text(&spec->agent_type, &base->agent_type);
        inherit_text(&spec->task_id, &base->task_id);
        inherit_text(&spec->workdir, &base->workdir);
        inherit_text(&spec->metadata, &base->metadata);
        inherit_text(&spec->dialect, &base->dialect);
        inherit_volumes(spec, base);
        spec->record |= base->record;
        b->inherits = true;
        return inherit_env(&spec->env, &base->env);
}

static int create_from_find_base(ApiRequest *q, CreateBody *b, SandboxSpec *ret, JsonComplaints *c) {
        State *s = q->api->rooms.state;
        Snapshot *n = NULL;
        Error error = { 0 };
        int r = 0;

        if ((b->of || b->from) && b->spec.snapshot)
                return json_complain(c, "snapshot", "a fork has its own: omit this"), -ENOENT;
        if (b->of)
                return sandbox_fork_spec(b->of, ret, &error);
        if (!b->from)
                r = s ? snapshot_resolve(s, &q->who, b->spec.snapshot, &n, &error) : error_set(&error, -ENOENT, "there is no snapshot '%.100s'", b->spec.snapshot);
        if (r < 0) {
                (void) json_complain(c, "snapshot", "%s (`cove snapshot ls` lists them)", error.text);
                return -ENOENT;
        }
        if (snapshot_spec(b->from ? b->from : n, ret, &error) < 0) {
                (void) json_complain(c, "snapshot", "%s", error.text);
                return -ENOENT;
        }
        return shape_text_set(&b->spec.snapshot, (b->from ? b->from : n)->tree.id);
}

int native_create_inherit(ApiRequest *q, CreateBody *b, JsonComplaints *c) {
        SandboxSpec base = { .hub_fd = -EBADF };
        int r;

        if (!b->spec.snapshot && !b->of && !b->from)
                return 0;
        r = create_from_find_base(q, b, &base, c);
        if (r >= 0 && !q->who.tenant) /* an admin's copy belongs to the tenant of the base */
                r = shape_text_set(&b->spec.tenant, base.tenant ? base.tenant : "");
        if (r >= 0)
                r = create_from_inherit(q, b, &base, c);
        sandbox_spec_done(&base);
        return r == -ENOENT ? 0 : r;
}
