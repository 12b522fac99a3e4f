/* docker-lines.h: splits a Dockerfile into instructions: a word, the rest of the line, and heredocs.
 *
 * Handles the escape directive, comments, continued lines and <<EOF.
 * Must not know: the instructions, except for the three that take heredocs. Pure; the caller limits the size
 * of the text. */
#pragma once

#include "build/plan.h"

typedef struct DockerLine {
        unsigned line;   /* number of its first line */
        char *word;      /* the instruction, as written */
        char *rest;      /* the text after it, trimmed; continued lines are joined */
        PlanFile *files;
        size_t n_files;
} DockerLine;

typedef struct DockerLines {
        const char *file; /* for error messages */
        const char *p;    /* the unread text */
        unsigned line;    /* number of the next line */
        char escape;
        bool begun;       /* the place for directives is over */
} DockerLines;

void docker_lines_init(DockerLines *l, const char *file, const char *text);
/* Returns 1 with an instruction, 0 at the end. -EINVAL: the error has the line. */
int docker_lines_next(DockerLines *l, DockerLine *ret, Error *reterr);
void docker_line_done(DockerLine *line);

/* Parses <<EOF, <<-EOF or <<"EOF": returns 1 with the delimiter. 0: not a heredoc. */
int docker_heredoc(const char *word, PlanFile *ret);
