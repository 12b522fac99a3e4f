/* plan.h: what a build will do, before anything of it is done.
 *
 * A Dockerfile (dockerfile.h), a recipe (recipe.h) and a list of steps (steps.h) all become this: stages, each with a base and steps. A step is as it was written:
 * its variables are replaced when its turn comes (scope.h), because their values depend on the base's environment, which nobody knows yet.
 * FROM is the exception: it may only name what was said before the first stage.
 * Pure. Must not know: sandboxes, images, files, the loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"

#define PLAN_TEXT_MAX   (1 << 20) /* of a Dockerfile or a recipe */
#define PLAN_STAGES_MAX 64
#define PLAN_STEPS_MAX  1024      /* of all stages together */
#define PLAN_WORDS_MAX  4096      /* of one step */

typedef enum PlanKind {
        PLAN_RUN,
        PLAN_COPY,
        PLAN_ADD,
        PLAN_ENV,        /* words: names and values, in turn */
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
        PLAN_START,      /* of a recipe: what is started, as a shell command */
        PLAN_READY,      /* of a recipe: what tells whether it is ready */
        _PLAN_KIND_MAX,
        _PLAN_KIND_INVALID = -22,
} PlanKind;

const char *plan_kind_name(PlanKind kind); /* as it is written: "RUN" */

/* A text that stands in the file itself: <<EOF, or a recipe's content. */
typedef struct PlanFile {
        char *name;  /* the delimiter */
        char *data;
        bool expand; /* variables in it are replaced when it is copied */
        bool strip;  /* <<-: leading tabs are taken off */
} PlanFile;

typedef struct PlanStep {
        PlanKind kind;
        unsigned line;
        char *text;  /* as written, on one line, for people */
        bool exec;   /* RUN, CMD, ENTRYPOINT: words are the program and its arguments; else words has one: a line for the shell */
        Strv words;  /* COPY, ADD: sources and, last, the destination */
        bool literal; /* of COPY: the words are what they are, no variables and no patterns: a recipe's. Of ENV: quotes are no quotes */
        char *chown, *chmod; /* COPY, ADD; NULL: nothing was said */
        char *from_text; /* COPY --from= as written; NULL: the context's files are meant */
        int from;    /* … the stage that it is; -1: the context */
        char *archive; /* COPY: which of the archives that came along its files are in; NULL: the context */
        char *user;  /* RUN: who runs it, whoever the stage's user is; NULL: that one */
        char *becomes; /* RUN: who the stage's user is afterwards; NULL: who it was */
        bool own;    /* COPY, WORKDIR: what is made belongs to the stage's user, and not to root */
        bool force;  /* is done, with all that follow, whatever the cache has */
        PlanFile *files;
        size_t n_files; /* RUN, COPY, ADD */
} PlanStep;

typedef struct PlanStage {
        char *name;  /* AS; NULL: none */
        char *base;  /* an image, or "host" and the like; NULL: the stage `parent` */
        int parent;  /* -1: base */
        char *user, *workdir; /* where the base says nothing; NULL: root, and "/" */
        Strv shell;  /* as by SHELL; empty: { "/bin/sh", "-c" } */
        unsigned line;
        char *text;
        PlanStep *steps;
        size_t n_steps;
        bool needed;   /* for the target */
        bool borrowed; /* nobody wrote it: COPY --from=IMAGE */
} PlanStage;

typedef struct Plan {
        PlanStage *stages;
        size_t n_stages, n_steps;
        size_t target;
        char escape;     /* of its variables: '\\' or '`' */
        Strv globals;    /* ARG before the first FROM, with their values: "K=V" */
        Strv declared;   /* names of all ARGs, for those who were given one that nobody asked for */
        Strv warnings;   /* what was read and does nothing; one sentence each */
} Plan;

typedef struct PlanOptions {
        const char *file;      /* for complaints: "Dockerfile" */
        const char *target;    /* NULL: the last stage */
        const Strv *arguments; /* "K=V"; may be NULL */
} PlanOptions;

Plan *plan_new(void);
Plan *plan_free(Plan *p);
static inline void plan_freep(Plan **p) {
        *p = plan_free(*p);
}
#define _cleanup_plan_ _cleanup_(plan_freep)

/* Both: what was added, or NULL: no memory, or too many (the caller says which by its count). */
PlanStage *plan_add_stage(Plan *p);
PlanStep *plan_add_step(Plan *p, PlanStage *stage);
int plan_warn(Plan *p, const char *format, ...) _printf_(2, 3);

/* A stage by its name (in any case) or number, among the first n. -1: none. */
int plan_find_stage(const Plan *p, const char *name, size_t n);

/* To be called once all is read: who COPY --from= means, and which stages the target needs. -ENOENT: there is no such target. */
int plan_choose(Plan *p, const PlanOptions *options, Error *reterr);

/* Steps that the target needs, FROM counted. */
size_t plan_count_steps(const Plan *p);

/* A value of one of the platform's arguments (TARGETARCH, …), of this machine; NULL: it is none of them. */
const char *plan_platform_argument(const char *name);
/* HTTP_PROXY and its like, which need no ARG and are in no key. */
bool plan_is_proxy_argument(const char *name);
