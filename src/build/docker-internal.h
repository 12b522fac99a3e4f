/* docker-internal.h: what dockerfile*.c share. */
#pragma once

#include "build/docker-lines.h"
#include "build/plan.h"

typedef struct DockerReader {
        const PlanOptions *options;
        Plan *plan;
        PlanStage *stage; /* NULL: before the first FROM */
        char escape;
        const DockerLine *line;
        Strv flags;       /* of the line, "--name=value" */
        const char *rest; /* behind them */
        size_t left;      /* of what may come out of variables while it is read */
        Error *reterr;
} DockerReader;

/* "FILE:LINE: WORD …" */
int docker_complain(DockerReader *d, const char *format, ...) _printf_(2, 3);
int docker_fail(DockerReader *d, int r, const char *where); /* -ENOMEM, -E2BIG, or the sentence that is there already */

/* What a flag of this instruction may be; those that are refused have a sentence that says what to do instead. The last has no name. */
typedef struct DockerFlag {
        const char *name;
        int (*take)(DockerReader *d, PlanStep *s, const char *value); /* value "": it had none */
        const char *refused;
} DockerFlag;

extern const DockerFlag docker_from_flags[], docker_copy_flags[], docker_add_flags[], docker_run_flags[], docker_healthcheck_flags[];

/* What is behind the flags. */
int docker_from(DockerReader *d, PlanStep *s /* none */);
int docker_copy(DockerReader *d, PlanStep *s); /* and ADD */
int docker_run(DockerReader *d, PlanStep *s);
int docker_healthcheck(DockerReader *d, PlanStep *s);

int docker_global(DockerReader *d, const char *word); /* ARG before the first FROM */
