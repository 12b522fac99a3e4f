/* plan.h: the steps of a build, before any is done.
 *
 * A Dockerfile (dockerfile.h), a recipe (recipe.h) and a list of steps (steps.h) all become a plan: stages,
 * each with a base and steps. Steps are kept as written. Their variables are replaced only when they run
 * (scope.h), because the values depend on the base's environment, which is unknown until then.
 * FROM is the exception: it may use only variables that were set before the first stage.
 * Pure. Must not know: sandboxes, images, files, the loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"

#define PLAN_TEXT_MAX   (1 << 20) /* of a Dockerfile or a recipe */
#define PLAN_STAGES_MAX 64
#define PLAN_STEPS_MAX  1024      /* of all stages together */
#define PLAN_WORDS_MAX  4096      /* per step */

typedef enum PlanKind {
        PLAN_RUN,
        PLAN_COPY,
        PLAN_ADD,
        PLAN_ENV,        /* words: alternating names and values */
        PLAN_ARG,        /* words: NAME or NAME=default */
        PLAN_LABEL,      /* as ENV */
        PLAN_WORKDIR,
        PLAN_USER,
        PLAN_CMD,
        PLAN_ENTRYPOINT,
        PLAN_EXPOSE,
        PLAN_SHELL,
        PLAN_STOPSIGNAL,
        PLAN_VOLUME,
        PLAN_HEALTHCHECK,
        PLAN_MAINTAINER,
        PLAN_START,      /* of a recipe: the start command, a shell command */
        PLAN_READY,      /* of a recipe: the command that tests whether it is ready */
        _PLAN_KIND_MAX,
        _PLAN_KIND_INVALID = -22,
} PlanKind;

const char *plan_kind_name(PlanKind kind); /* as in the file: "RUN" */

/* A text embedded in the file: a heredoc, or the content in a recipe. */
typedef struct PlanFile {
        char *name;  /* the delimiter */
        char *data;
        bool expand; /* replace its variables when it is copied */
        bool strip;  /* <<-: remove leading tabs */
} PlanFile;

typedef struct PlanStep {
        PlanKind kind;
        unsigned line;
        char *text;  /* as written, on one line, for display */
        /* RUN, CMD, ENTRYPOINT: the words are a program and its arguments. Else the only word is a line for
         * the shell. */
        bool exec;
        Strv words;  /* COPY, ADD: sources, and the destination last */
        /* COPY: no variables and no patterns in the words (from a recipe). ENV: quotes are ordinary
         * characters. */
        bool literal;
        char *chown, *chmod; /* COPY, ADD; NULL: not given */
        char *from_text; /* COPY --from= as written; NULL: from the context */
        int from;    /* the stage it means; -1: the context */
        char *archive; /* COPY: the archive with its files; NULL: the context */
        char *user;  /* RUN: user that runs it, instead of the stage's; NULL: the stage's */
        char *becomes; /* RUN: the stage's user from then on; NULL: unchanged */
        bool own;    /* COPY, WORKDIR: new files belong to the stage's user, not to root */
        bool force;  /* do not use the cache for it and the steps after it */
        PlanFile *files;
        size_t n_files; /* RUN, COPY, ADD */
} PlanStep;

typedef struct PlanStage {
        char *name;  /* AS; NULL: none */
        char *base;  /* an image, or "host" and the like; NULL: the stage `parent` */
        int parent;  /* -1: `base` is used */
        char *user, *workdir; /* defaults if the base has none; NULL: root, and "/" */
        Strv shell;  /* as set by SHELL; empty: { "/bin/sh", "-c" } */
        unsigned line;
        char *text;
        PlanStep *steps;
        size_t n_steps;
        bool needed;   /* by the target */
        bool borrowed; /* not written in the file: made for COPY --from=IMAGE */
} PlanStage;

typedef struct Plan {
        PlanStage *stages;
        size_t n_stages, n_steps;
        size_t target;
        char escape;     /* of its variables: '\\' or '`' */
        Strv globals;    /* ARG before the first FROM, with their values: "K=V" */
        Strv declared;   /* names of all ARGs, to warn of given ones that are not used */
        Strv warnings;   /* about input that has no effect; one sentence each */
} Plan;

typedef struct PlanOptions {
        const char *file;      /* for error messages: "Dockerfile" */
        const char *target;    /* NULL: the last stage */
        const Strv *arguments; /* "K=V"; may be NULL */
} PlanOptions;

Plan *plan_new(void);
Plan *plan_free(Plan *p);
static inline void plan_freep(Plan **p) {
        *p = plan_free(*p);
}
#define _cleanup_plan_ _cleanup_(plan_freep)

/* Both return the new object, or NULL: out of memory, or too many (the caller checks the count). */
PlanStage *plan_add_stage(Plan *p);
PlanStep *plan_add_step(Plan *p, PlanStage *stage);
int plan_warn(Plan *p, const char *format, ...) _printf_(2, 3);

/* Finds a stage among the first n by its name (case-insensitive) or number. -1: not found. */
int plan_find_stage(const Plan *p, const char *name, size_t n);

/* Call it after parsing: resolves COPY --from=, and finds the stages that the target needs. -ENOENT: no such
 * target. */
int plan_choose(Plan *p, const PlanOptions *options, Error *reterr);

/* The number of steps that the target needs, including FROM. */
size_t plan_count_steps(const Plan *p);

/* The value of a platform argument (TARGETARCH, …) on this machine; NULL: not a platform argument. */
const char *plan_platform_argument(const char *name);
/* HTTP_PROXY and the like. These need no ARG and are in no key. */
bool plan_is_proxy_argument(const char *name);
