/* scope.h: what the steps of a stage leave behind for those that follow: environment, arguments, user, working directory, what will be the template's configuration.
 *
 * Pure. Must not know: sandboxes, where images are kept, how steps are run. */
#pragma once

#include "build/plan.h"
#include "image/image.h"

#define SCOPE_BYTES_MAX (1 << 20) /* of its environment, labels and arguments together; what a base brings stays */

typedef struct BuildScope {
        ImageConfig config; /* the base's, and what was said since. workdir: absolute, never NULL; user: as written, NULL: root; uid, gid, home: not known here */
        Strv arguments;     /* ARGs with a value: "K=V" */
        Strv shell;         /* SHELL, or { "/bin/sh", "-c" } */
        bool cmd_is_ours;   /* of this Dockerfile and not of the base */
} BuildScope;

int scope_init(BuildScope *s); /* as an image without a configuration has it */
int scope_take_config(BuildScope *s, const ImageConfig *base); /* copies */
int scope_copy(BuildScope *to, const BuildScope *from);
void scope_done(BuildScope *s);

/* Does what a step says about all that. 1: there is more to it (RUN, COPY, ADD, WORKDIR). given: "K=V" of --build-arg. The error has no line. */
int scope_apply(BuildScope *s, const Plan *plan, const PlanStep *step, const Strv *given, Error *reterr);

int scope_expand(const BuildScope *s, const Plan *plan, const char *word, char **ret, Error *reterr);
/* All words of a step, or those that are literal as they are. -E2BIG: together more than EXPAND_MAX comes out of them. */
int scope_expand_words(const BuildScope *s, const Plan *plan, const PlanStep *step, Strv *ret, Error *reterr);
int scope_expand_file(const BuildScope *s, const Plan *plan, const PlanFile *file, char **ret, Error *reterr);
/* A path of the guest's: absolute, or below the working directory; normalised; a slash at its end stays. */
int scope_path(const BuildScope *s, const char *path, char **ret, Error *reterr);

/* The program of a RUN, and what it finds in its environment: arguments, then ENV; given proxies, which need no ARG. */
int scope_command(const BuildScope *s, const PlanStep *step, Strv *ret, Error *reterr);
int scope_environment(const BuildScope *s, const Strv *given, Strv *ret);

/* The key of a step: everything that could change what it does, with the key before it. content: the hash of copied files; NULL: none. */
#define SCOPE_KEY_SIZE 65
int scope_key(const BuildScope *s, const Plan *plan, const PlanStep *step, const char *before, const char *content, const char *network, char ret[static SCOPE_KEY_SIZE], Error *reterr);
