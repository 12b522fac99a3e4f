/* template.h: where the core asks what a template is.
 *
 * `template` of a create is a word; those the spawner was started with ("host", "base", --template) the core knows by itself. For all others somebody hangs himself into the
 * manager (image/image.h). A sandbox, a snapshot and a build hold the layers that they stand on, by rows that its keeper can read: a layer that is named
 * by one is never removed.
 * Must not know: images, registries, how templates are made. */
#pragma once

#include "core/sandbox.h"

/* Made of nothing but the host: "host" is its files, "base" the same with what agents expect, for the user `user`, who may become root. */
#define TEMPLATE_HOST "host"
#define TEMPLATE_BASE "base"
#define TEMPLATE_BASE_ALIAS "code-interpreter-v1" /* what others call the same */

/* One of these two; NULL: another. */
const char *template_builtin(const char *name);

typedef struct TemplateView { /* borrowed until the loop turns */
        const char *name, *tag; /* as it is called now */
        const char *digest;     /* what it is; "sha256:…" */
        const char *layer;      /* TREE_LAYER, hex; "": the template named by `base` (host), with a disk */
        const char *base;
        const char *snapshot;   /* TREE_SNAPSHOT that a new disk begins as; "": an empty one */
        Strv env;               /* defaults: those of the caller win, name by name */
        const char *workdir;    /* NULL: says nothing */
        bool has_user;
        uint32_t uid, gid;
        const char *home;       /* HOME of that user; NULL: says nothing */
        const char *start_command, *ready_command; /* startup.h; NULL: none */
} TemplateView;

typedef struct TemplateKeeper {
        /* 1: here it is; 0: there is none of that name for this tenant; negative: there is, but it cannot be used now, and the error says why. */
        int (*find)(const char *tenant, const char *name, TemplateView *ret, Error *reterr, void *userdata);
        void *userdata;
} TemplateKeeper;

void manager_set_templates(Manager *m, const TemplateKeeper *keeper); /* NULL: there is none any more */

/* For surfaces, before a create: fills layer, digest, snapshot, persistent, sudo, env, workdir and user of the spec where the caller has said nothing. -ENOENT: no such template;
 * the text names those there are, if they are few, and the nearest. */
int template_apply(Manager *m, SandboxSpec *spec, bool user_given, bool workdir_given, Error *reterr);

/* Whether there is such a one for the tenant; -ENOENT as above. */
int template_check(const Manager *m, const char *tenant, const char *name, Error *reterr);

/* What a sandbox of it starts with; *ret_start is NULL where that is nothing. The caller frees both. */
int template_program(const Manager *m, const char *tenant, const char *name, char **ret_start, char **ret_ready);
