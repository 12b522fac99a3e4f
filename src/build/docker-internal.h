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
        Error *reterr;
} DockerReader;

/* "FILE:LINE: WORD …" */
int docker_complain(DockerReader *d, const char *format, ...) _printf_(2, 3);
int docker_fail(DockerReader *d, int r, const char *where); /* -ENOMEM, -E2BIG, or the sentence that is there already */

/* NULL: complained. */
PlanStep *docker_step(DockerReader *d, PlanKind kind);

/* What a flag of this instruction may be; those that are refused have a sentence that says what to do instead. */
typedef struct DockerFlag {
        const char *name;
        int (*take)(DockerReader *d, PlanStep *s, const char *value); /* value "": it had none */
        const char *refused;
} DockerFlag;
int docker_flags(DockerReader *d, const DockerFlag *flags, size_t n, PlanStep *s);

int docker_from(DockerReader *d);
int docker_global(DockerReader *d, const char *word); /* ARG before the first FROM */
int docker_copy(DockerReader *d);
int docker_add(DockerReader *d);
int docker_run(DockerReader *d);
int docker_healthcheck(DockerReader *d);
