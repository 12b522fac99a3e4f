/* commit-sandbox.h: `cove commit` of a sandbox: into a local directory, or as a template. */
#pragma once

#include "client/client.h"
#include "client/txn/txn-common.h"

#define COMMIT_PATHS_MAX 256

typedef struct CommitVerb {
        Common common;
        bool force, allow_setuid, dry_run;
        const char *to, *from, *template;
        bool list_conflicts;
        json_t *answer;
} CommitVerb;

CommitOptions commit_options_of(CommitVerb *v, const Strv *paths);
int commit_tell(CommitVerb *v, const char *directory, const CommitResult *result, bool gone, int r, const Error *error);

int commit_sandbox(CommitVerb *v, const Place *place, const Operands *words);
