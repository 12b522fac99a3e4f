/* recipe.h: parses a template in a few lines of YAML into a plan.
 *
 *      base: debian-base            packages:                      files:                            env: { LANG: C.UTF-8, PATH: "/opt/bin:$PATH" }
 *      user: app                      apt: [python3, git]            - path: /etc/app.conf           run: [make, make install]
 *      workdir: /app                  pip: [requests]                  content: "…"                  start: python3 -m http.server
 *      labels: { team: x }            npm: [typescript]              - path: /app                    ready: curl -fs localhost:8000
 *                                                                      source: src/                  hosts: [deb.debian.org]
 *                                                                      mode: "0644"
 *
 * The order of execution is fixed, whatever the order in the file: base, env, packages, files, workdir, run,
 * user, labels, start, ready. hosts: the hosts that it fetches from, for display.
 * Pure. Must not know: sandboxes, images, files. */
#pragma once

#include "build/plan.h"

/* -EINVAL: "FILE:LINE:COLUMN: " and the problem; a misspelled key gets a suggestion. options: as for a
 * Dockerfile; there is one stage and no argument. */
int recipe_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr);

/* The built-in recipes. */
typedef struct Recipe {
        const char *name, *about, *text;
} Recipe;
extern const Recipe recipes[]; /* the last one has no name */
const Recipe *recipe_find(const char *name);
