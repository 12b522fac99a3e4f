/* scope.h: the state that the steps of a stage pass on: environment, arguments, user, working directory, the
 * future configuration of the template.
 *
 * Pure. Must not know: sandboxes, where images are kept, how steps are run. */
#pragma once

#include "build/plan.h"
#include "image/image.h"

#define SCOPE_BYTES_MAX (1 << 20) /* of its environment, labels and arguments together, without those of the base */

typedef struct BuildScope {
        /* The base's, updated by the steps. workdir: absolute, never NULL. user: as written, NULL: root. uid,
         * gid and home are unknown here. */
        ImageConfig config;
        Strv arguments;     /* ARGs with a value: "K=V" */
        Strv shell;         /* as set by SHELL, or { "/bin/sh", "-c" } */
        bool cmd_is_ours;   /* it was set by this Dockerfile, not by the base */
} BuildScope;

int scope_init(BuildScope *s); /* the state for an image without a configuration */
int scope_take_config(BuildScope *s, const ImageConfig *base); /* copies */
int scope_copy(BuildScope *to, const BuildScope *from);
void scope_done(BuildScope *s);

/* Applies a step to the state. 1: the step has an action too (RUN, COPY, ADD, WORKDIR). given: "K=V" of
 * --build-arg. The error does not have the line. */
int scope_apply(BuildScope *s, const Plan *plan, const PlanStep *step, const Strv *given, Error *reterr);

int scope_expand(const BuildScope *s, const Plan *plan, const char *word, char **ret, Error *reterr);
/* Expands all words of a step; literal ones stay as they are. -E2BIG: the results exceed EXPAND_MAX together. */
int scope_expand_words(const BuildScope *s, const Plan *plan, const PlanStep *step, Strv *ret, Error *reterr);
int scope_expand_file(const BuildScope *s, const Plan *plan, const PlanFile *file, char **ret, Error *reterr);
/* Resolves a guest path: absolute, or below the working directory; normalised. A slash at its end is kept. */
int scope_path(const BuildScope *s, const char *path, char **ret, Error *reterr);

/* The program of a RUN, and its environment: arguments, then ENV, and given proxies, which need no ARG. */
int scope_command(const BuildScope *s, const PlanStep *step, Strv *ret, Error *reterr);
int scope_environment(const BuildScope *s, const Strv *given, Strv *ret);

/* The key of a step: the previous key and everything that could change the result. content: the hash of
 * copied files; NULL: none. */
#define SCOPE_KEY_SIZE 65
int scope_key(const BuildScope *s, const Plan *plan, const PlanStep *step, const char *before, const char *content, const char *network, char ret[static SCOPE_KEY_SIZE], Error *reterr);
