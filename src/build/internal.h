/* internal.h: one build under way; what the files behind build.h share.
 *
 *      whole     context · plan · stages, one after the other · account · flatten · register                    (build.c)
 *      stage     base · scope · keys of all steps, and what the cache has · steps, one after the other · user · leave   (stage.c)
 *      step      of a RUN, COPY, WORKDIR: sandbox · … (step-*.c); then what it has made is kept: copy · publish · remember   (keep.c)
 *
 * Three sequences, each within a step of the one before. One thing is under way at a time (but for a pair of helpers with a pipe between them), for the innermost
 * of them, which hears of its end by build_heard(). Each step begins in another turn of the loop. */
#pragma once

#include <string.h>

#include "build/account.h"
#include "build/build.h"
#include "build/context.h"
#include "build/plan.h"
#include "build/scope.h"
#include "config/config.h"
#include "core/acquire.h"
#include "core/feed.h"
#include "core/fileop.h"
#include "core/helper.h"

typedef struct Build Build;

/* One of the three sequences; what their steps are called with. */
typedef struct BuildPart {
        MakingWork work;
        Build *build;
} BuildPart;

static inline Build *build_of(void *part) {
        return ((BuildPart *) part)->build;
}

typedef struct BuildStage {
        BuildScope scope;  /* as the next step finds it */
        char layer[TREE_NAME_MAX + 1]; /* that it stands on; "": base */
        char *base;        /* "host", or one of --template; NULL: a layer */
        char *layers;      /* of the image below: images_put wants it for push */
        char snapshot[TREE_NAME_MAX + 1]; /* the disk as it is after the last step; "": an empty one */
        char key[SCOPE_KEY_SIZE];         /* likewise */
        char (*keys)[SCOPE_KEY_SIZE];     /* of every step, afterwards; "": it changes no file */
        BuildScope ahead;  /* while those are made */
        char ahead_key[SCOPE_KEY_SIZE];
        Sandbox *sandbox; /* NULL: none */
        size_t next;       /* the step that comes */
        size_t cached;     /* steps before this one need not be done */
        bool ready, done;
        Account account;   /* of scope.user, as it was looked up last */
} BuildStage;

/* Of a RUN, after its execution may be gone. */
typedef struct BuildResult {
        ExecutionReason reason;
        int exit_code, signal;
        char message[256]; /* "": none */
} BuildResult;

struct Builds {
        Images *images;
        Manager *manager;
        Build *list;
        struct BuildRecord *records;
        sd_event_source *sweep;
};

struct Build {
        BuildPart whole, in_stage, in_step;
        Builds *builds;
        Manager *manager;
        Images *images;
        Making *making;
        char *tenant; /* NULL: nobody's */
        char bound[ACCESS_NAME_MAX + 1]; /* the profile that the caller is bound to; "": none */
        BuildRequest request;
        const char *file; /* for complaints */
        Plan *plan;
        BuildContext *context;
        BuildContext **contexts; /* of the request's archives, in their order */
        size_t n_surveyed;
        int survey_fd; /* what came of the last survey */
        BuildStage *stages;
        size_t stage; /* the one that is built */
        size_t n_steps, n_done; /* for the headers: [3/12] */
        usec_t began, step_began;
        uint64_t bytes; /* of the layer that was flattened */

        /* What is under way. */
        bool again; /* the step begins once more when it is over */
        sd_event_source *failed; /* with an error that is told in the next turn of the loop */
        Error error;
        Acquisition *acquisition;
        size_t acquiring; /* for which stage */
        FileOp *op;
        int read_fd;    /* of what is looked at */
        char **reading; /* where its content goes */
        char *data;     /* that is written */
        Helper *helpers[2];
        unsigned n_helpers;
        Error broken; /* of the first that could not pass on what it had */
        FileOp *channels[2];
        char announced[TREE_NAME_MAX + 1]; /* a tree that is being published; "": none */
        Feed feed; /* of a RUN */
        size_t turn; /* bytes of it that were logged in this one */
        BuildResult result;
        char last_line[256]; /* of what it said */
        uint64_t denials;    /* of its sandbox's network, when it began */

        /* What came of it. */
        FileEntry entry;
        bool found;
        Strv names;
        struct BuildCopy *copy; /* under way */
        char *passwd, *group;
        size_t n_accounts; /* of those two that have been read */

        Build *prev, *next;
};

static inline BuildStage *build_stage(const Build *b) {
        return b->stages + b->stage;
}
static inline const PlanStage *build_plan_stage(const Build *b) {
        return b->plan->stages + b->stage;
}
static inline const char *build_tenant(const Build *b) {
        return b->tenant ? b->tenant : "";
}
const PlanStep *build_step(const Build *b); /* NULL: all are done */

/* build.c */
int build_begin(BuildPart *part, Build *b, const Sequence *sequence, Error *reterr); /* STEP_WAITS, for the step of the outer one that begins it */
void build_heard(Build *b, const Error *error); /* what was under way is over */
int build_again(Build *b, int r); /* what was begun is a part of the step, which begins once more */
void build_stop(void *part); /* SequenceStep.cancel: what is under way is dropped, nobody hears of it any more */
int build_drop(void *part, Error *why); /* SequenceStep.undo of the first step: the same */
bool build_is_spawners(const Manager *m, const char *name); /* "host", or one of --template; stage-base.c */
const char *build_profile(const Build *b); /* of its sandboxes: the one that its caller is bound to, else the configured one; "": none */
BuildNetwork build_default_network(const Build *b); /* of a build that names none, and has no profile; stage-sandbox.c */
int build_sandbox(Build *b, size_t stage, Sandbox **ret, Error *reterr); /* -EPIPE: it is gone */

/* read.c: the first steps of the whole. */
int build_survey(void *part, Error *reterr);
int build_plan(void *part, Error *reterr);
/* Where the files of a COPY are: the context, or the archive that it names. -ENOENT: it did not come along. */
int build_files(const Build *b, const PlanStep *step, const BuildContext **ret, int *ret_fd, Error *reterr);

/* stage.c: begins the next, if there is one. */
int build_next_stage(void *part, Error *reterr);
/* stage-base.c: what the current stage stands on. */
int stage_base(void *part, Error *reterr);
/* stage-sandbox.c: a sandbox of that stage as it is now. */
int stage_need_sandbox(Build *b, size_t stage, Error *reterr);
int stage_leave(void *part, Error *reterr); /* the current one's sandbox goes, unless others copy out of it */

/* keep.c: the disk as it is becomes a snapshot with the step's key. */
int stage_keep(Build *b, Error *reterr);

/* finish.c: the last steps of the whole. */
int build_find_user(void *part, Error *reterr);
int build_flatten(void *part, Error *reterr);
int build_register(void *part, Error *reterr);

/* ops.c: steps, or parts of them. As guest root, in the sandbox of a stage. */
int ops_stat(Build *b, size_t stage, const char *path, Error *reterr);  /* found, entry */
int ops_list(Build *b, size_t stage, const char *path, Error *reterr);  /* names */
int ops_mkdir(Build *b, size_t stage, const char *path, const Account *owner, Error *reterr); /* with what is missing on the way; owner NULL: root */
int ops_read(Build *b, size_t stage, const char *path, char **ret, Error *reterr); /* NULL: there is none */
int ops_write(Build *b, size_t stage, const char *path, uint32_t mode, const Account *owner, char *data_take, Error *reterr);
void build_abandon(Build *b); /* what is under way: nobody hears of it any more */

/* helpers: starts one, on a worker of the sandbox or on none. All that were started are waited for. */
typedef struct HelperRequest {
        const char *const *arguments;
        bool works;   /* on a worker, which does `operation` at `path`, … */
        size_t stage; /* … in the sandbox of this stage */
        FileOperation operation;
        const char *path;
        int in, out, list; /* -EBADF: none */
} HelperRequest;
int helper_run(Build *b, const HelperRequest *request, Error *reterr);
int helper_run_pair(Build *b, HelperRequest *from, HelperRequest *to, Error *reterr); /* with a pipe between them */

/* step-*.c: what a step does. */
extern const Sequence step_run, step_copy, step_from, step_workdir;
extern const Sequence step_user; /* who USER is, for the template: b->passwd, b->group */
/* First steps of most of them. */
int build_need_sandbox(void *part, Error *reterr);
int build_read_accounts(void *part, Error *reterr); /* of the current stage, where the step has to do with them */
int build_find_account(Build *b, const char *text, bool chown, Account *ret, Error *reterr);
void build_step_end(void *part, const Error *error); /* stage.c: of those that change files */
void build_step_leave(void *part, const Error *error); /* stage.c: of others */

/* One COPY or ADD. */
typedef struct BuildCopy {
        Strv sources;       /* variables replaced */
        char *destination;  /* absolute; a slash at its end says directory */
        char *directory;    /* the same without that slash */
        bool is_directory;  /* there is one */
        int archive;        /* with its files; borrowed */
        bool has_owner, has_mode;
        Account owner;
        uint32_t mode;
        Selection selection;
        size_t next;        /* source, archive or text */
        bool asked;         /* COPY --from: about that one */
        uint32_t *modes;    /* COPY --from: of the sources */
} BuildCopy;
BuildCopy *build_copy_free(BuildCopy *c);
/* The options of the archive program for its owner and mode; `keep`: owners stay as they are when none was said. */
void copy_options(const BuildCopy *c, bool keep, char owner[static 32], char mode[static 16], const char **arguments, size_t *n);
static inline const Account *copy_owner(const BuildCopy *c) {
        return c->has_owner ? &c->owner : NULL;
}
static inline bool copy_means_directory(const BuildCopy *c) {
        return c->destination[strlen(c->destination) - 1] == '/';
}
int copy_refuse_file(const BuildCopy *c, Error *reterr); /* a file cannot be the destination of several */
/* Their first steps. */
int copy_words(void *part, Error *reterr);
int copy_find_owner(void *part, Error *reterr);
int copy_look(void *part, Error *reterr);
void copy_looked(Build *b); /* for the step after that one */

/* book.c, lines.c: records of builds hear of their makings. */
void build_record_changed(Making *making, void *userdata);
void build_record_scan(struct BuildRecord *record, const Making *making, const MakingInfo *info, usec_t at); /* lines that have come since the last time */
