/* docker-internal.h: shared by the files of the Dockerfile parser. */
#pragma once

#include "build/docker-lines.h"
#include "build/plan.h"

typedef struct DockerReader {
        const PlanOptions *options;
        Plan *plan;
        PlanStage *stage; /* NULL: before the first FROM */
        char escape;
        const DockerLine *line;
        Strv flags;       /* of the line: "--name=value" */
        const char *rest; /* the text after them */
        size_t left;      /* bytes that variables may still expand to during parsing */
        Error *reterr;
} DockerReader;

/* Sets an error that begins with "FILE:LINE: WORD …". */
int docker_complain(DockerReader *d, const char *format, ...) _printf_(2, 3);
int docker_fail(DockerReader *d, int r, const char *where); /* -ENOMEM, -E2BIG, or the error that is already set */

/* A possible flag of an instruction. A refused flag has a sentence with the alternative instead of `take`.
 * The last entry has no name. */
typedef struct DockerFlag {
        const char *name;
        int (*take)(DockerReader *d, PlanStep *s, const char *value); /* value "": none given */
        const char *refused;
} DockerFlag;

extern const DockerFlag docker_from_flags[], docker_copy_flags[], docker_add_flags[], docker_run_flags[], docker_healthcheck_flags[];

/* Read the text after the flags. */
int docker_from(DockerReader *d, PlanStep *s /* not used */);
int docker_copy(DockerReader *d, PlanStep *s); /* and ADD */
int docker_run(DockerReader *d, PlanStep *s);
int docker_healthcheck(DockerReader *d, PlanStep *s);

int docker_global(DockerReader *d, const char *word); /* an ARG before the first FROM */
