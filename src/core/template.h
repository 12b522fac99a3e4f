/* template.h: the core's lookup of templates.
 *
 * `template` of a create is a name. The core itself knows the templates that the spawner was started with ("host",
 * "base", --template); for all others a keeper registers itself with the manager (image/image.h). Sandboxes,
 * snapshots and builds name their layers in rows that the keeper can read; a layer that such a row names is never
 * removed.
 * Must not know: images, registries, how templates are made. */
#pragma once

#include "core/sandbox.h"

/* The built-in templates: "host" is the host's files; "base" adds what agents expect, for the user `user`, which
 * may become root. */
#define TEMPLATE_HOST "host"
#define TEMPLATE_BASE "base"
#define TEMPLATE_BASE_ALIAS "code-interpreter-v1" /* E2B's name for it */

/* TEMPLATE_HOST or TEMPLATE_BASE; NULL: not a built-in one. */
const char *template_builtin(const char *name);

typedef struct TemplateView { /* borrowed until the next turn of the loop */
        const char *name, *tag; /* its current name */
        const char *digest;     /* "sha256:…" of its contents */
        const char *layer;      /* TREE_LAYER, hex; "": the template named by `base` (host), with a disk */
        const char *base;
        const char *snapshot;   /* TREE_SNAPSHOT that a new disk begins as; "": an empty disk */
        Strv env;               /* defaults: the caller's variables override them, name by name */
        const char *workdir;    /* NULL: not set */
        bool has_user;
        uint32_t uid, gid;
        const char *home;       /* HOME of that user; NULL: not set */
        const char *start_command, *ready_command; /* startup.h; NULL: none */
} TemplateView;

typedef struct TemplateKeeper {
        /* 1: found; 0: there is none of that name for this tenant; negative: it exists, but cannot be used now; the error
         * says why. */
        int (*find)(const char *tenant, const char *name, TemplateView *ret, Error *reterr, void *userdata);
        void *userdata;
} TemplateKeeper;

void manager_set_templates(Manager *m, const TemplateKeeper *keeper); /* NULL: removes it */

/* For surfaces, before a create: sets layer, digest, snapshot, persistent, sudo, env, workdir and user of the spec
 * where the caller has given none. -ENOENT: no such template; the error lists those of the spawner. */
int template_apply(Manager *m, SandboxSpec *spec, bool user_given, bool workdir_given, Error *reterr);

/* Whether the tenant has such a template; -ENOENT as above. */
int template_check(const Manager *m, const char *tenant, const char *name, Error *reterr);

/* The start and ready commands of a template; *ret_start is NULL if there is none. The caller frees both. */
int template_program(const Manager *m, const char *tenant, const char *name, char **ret_start, char **ret_ready);
