/* docker-lines.h: a Dockerfile's text as instructions: a word, the rest, and the texts that stand behind it.
 *
 * Takes care of the escape directive, comments, lines that go on, and <<EOF. Must not know: which instructions there are, but for the three that take texts.
 * Pure; the text is bounded by the caller. */
#pragma once

#include "build/plan.h"

typedef struct DockerLine {
        unsigned line;   /* where it begins */
        char *word;      /* the instruction, as written */
        char *rest;      /* behind it, without spaces at both ends; lines joined */
        PlanFile *files;
        size_t n_files;
} DockerLine;

typedef struct DockerLines {
        const char *file; /* for complaints */
        const char *p;    /* what is left */
        unsigned line;    /* of what comes next */
        char escape;
        bool begun;       /* directives may not come any more */
} DockerLines;

void docker_lines_init(DockerLines *l, const char *file, const char *text);
/* 1 with a line, 0 at the end. -EINVAL: with the line. */
int docker_lines_next(DockerLines *l, DockerLine *ret, Error *reterr);
void docker_line_done(DockerLine *line);

/* <<EOF, <<-EOF, <<"EOF": 1 and its name. 0: is something else. */
int docker_heredoc(const char *word, PlanFile *ret);
