/* internal.h: one running build; shared by the files behind build.h.
 *
 *      whole     context · plan · stages, in order · account · flatten · register                                   (build.c)
 *      stage     base · scope · keys of all steps, lookup in the cache · steps, in order · user · leave             (stage.c)
 *      step      for RUN, COPY, WORKDIR: sandbox · … (step-*.c); then its result is kept: copy · publish · remember   (keep.c)
 *
 * These are three sequences; each runs within a step of the one above. One operation is pending at a time
 * (except for a pair of helpers with a pipe between them). It belongs to the innermost sequence, and
 * build_heard() reports its end. Each step begins in a new turn of the loop. */
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

/* One of the three sequences; the object that its steps get. */
typedef struct BuildPart {
        MakingWork work;
        Build *build;
} BuildPart;

static inline Build *build_of(void *part) {
        return ((BuildPart *) part)->build;
}

typedef struct BuildStage {
        BuildScope scope;  /* for the next step */
        char layer[TREE_NAME_MAX + 1]; /* the base of the stage; "": see base */
        char *base;        /* "host", or one of --template; NULL: a layer */
        char *layers;      /* of the base image; images_put() needs it for push */
        char snapshot[TREE_NAME_MAX + 1]; /* the disk after the last step; "": an empty disk */
        char key[SCOPE_KEY_SIZE];         /* of the last step */
        char (*keys)[SCOPE_KEY_SIZE];     /* of the state after each step; "": the step changes no file */
        BuildScope ahead;  /* for computing the keys */
        char ahead_key[SCOPE_KEY_SIZE];
        Sandbox *sandbox; /* NULL: none */
        size_t next;       /* index of the next step */
        size_t cached;     /* steps before this index are in the cache */
        bool ready, done;
        Account account;   /* of scope.user, as of the last lookup */
} BuildStage;

/* The end of a RUN, for use after its execution is gone. */
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
        char *tenant; /* NULL: no tenant */
        char bound[ACCESS_NAME_MAX + 1]; /* the profile that binds the caller; "": none */
        BuildRequest request;
        const char *file; /* for error messages */
        Plan *plan;
        BuildContext *context;
        BuildContext **contexts; /* of the request's archives, in their order */
        size_t n_surveyed;
        int survey_fd; /* output of the last survey */
        BuildStage *stages;
        size_t stage; /* index of the current one */
        size_t n_steps, n_done; /* for headers such as [3/12] */
        usec_t began, step_began;
        uint64_t bytes; /* of the flattened layer */

        /* The pending operation. */
        bool again; /* repeat the step at its end */
        sd_event_source *failed; /* reports `error` in the next turn of the loop */
        Error error;
        Acquisition *acquisition;
        size_t acquiring; /* its stage */
        FileOp *op;
        int read_fd;    /* of the file being read */
        char **reading; /* where to store its content */
        char *data;     /* being written */
        Helper *helpers[2];
        unsigned n_helpers;
        Error broken; /* the first helper's, if it could not pass on its data (EPIPE) */
        FileOp *channels[2];
        char announced[TREE_NAME_MAX + 1]; /* a tree that is being published; "": none */
        Feed feed; /* of a RUN */
        size_t turn; /* bytes of it logged in this turn */
        BuildResult result;
        char last_line[256]; /* of its output */
        ExecutionStream line_stream; /* it came from this one */
        bool line_open; /* its end has not come yet */
        uint64_t denials;    /* of its sandbox's network, when it began */
        sd_event_source *settle; /* turn.h: until what the gate has told before the end is read */

        /* Its result. */
        FileEntry entry;
        bool found;
        Strv names;
        struct BuildCopy *copy; /* the current one */
        char *passwd, *group;
        size_t n_accounts; /* how many of the two have been read */

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
const PlanStep *build_step(const Build *b); /* the next step; NULL: all are done */

/* build.c */
/* Returns STEP_WAITS, for the step of the outer sequence that starts it. */
int build_begin(BuildPart *part, Build *b, const Sequence *sequence, Error *reterr);
void build_heard(Build *b, const Error *error); /* the pending operation has ended */
int build_again(Build *b, int r); /* the operation is one part of the step: repeat the step at its end */
void build_stop(void *part); /* SequenceStep.cancel: drops the pending operation, with no further callbacks */
int build_drop(void *part, Error *why); /* SequenceStep.undo of the first step: the same */
bool build_is_spawners(const Manager *m, const char *name); /* "host", or one of --template (stage-base.c) */
/* The profile of its sandboxes: the one that binds the caller, else the configured one; "": none. */
const char *build_profile(const Build *b);
BuildNetwork build_default_network(const Build *b); /* if the build names none and has no profile (stage-sandbox.c) */
int build_sandbox(Build *b, size_t stage, Sandbox **ret, Error *reterr); /* -EPIPE: it is gone */

/* read.c: the first steps of `whole`. */
int build_survey(void *part, Error *reterr);
int build_plan(void *part, Error *reterr);
/* The files for a COPY: the context, or the archive that it names. -ENOENT: the archive was not sent. */
int build_files(const Build *b, const PlanStep *step, const BuildContext **ret, int *ret_fd, Error *reterr);

/* stage.c: starts the next stage, if any. */
int build_next_stage(void *part, Error *reterr);
/* stage-base.c: the base of the current stage. */
int stage_base(void *part, Error *reterr);
/* stage-sandbox.c: makes a sandbox for the current state of that stage, unless it has one. */
int stage_need_sandbox(Build *b, size_t stage, Error *reterr);
int stage_leave(void *part, Error *reterr); /* deletes the current stage's sandbox unless other stages copy from it */

/* keep.c: saves the disk as a snapshot with the step's key. */
int stage_keep(Build *b, Error *reterr);

/* finish.c: the last steps of `whole`. */
int build_find_user(void *part, Error *reterr);
int build_flatten(void *part, Error *reterr);
int build_register(void *part, Error *reterr);

/* ops.c: steps, or parts of them. They act as guest root in the sandbox of a stage. */
int ops_stat(Build *b, size_t stage, const char *path, Error *reterr);  /* sets found and entry */
int ops_list(Build *b, size_t stage, const char *path, Error *reterr);  /* sets names */
/* Also makes missing parents. owner NULL: root. */
int ops_mkdir(Build *b, size_t stage, const char *path, const Account *owner, Error *reterr);
int ops_read(Build *b, size_t stage, const char *path, char **ret, Error *reterr); /* NULL: it does not exist */
int ops_write(Build *b, size_t stage, const char *path, uint32_t mode, const Account *owner, char *data_take, Error *reterr);
void build_abandon(Build *b); /* drops the pending operation, with no further callbacks */

/* Starts a helper, with or without a worker in the sandbox. The step waits for all started helpers. */
typedef struct HelperRequest {
        const char *const *arguments;
        bool works;   /* with a worker that does `operation` at `path` */
        size_t stage; /* in the sandbox of this stage */
        FileOperation operation;
        const char *path;
        int in, out, list; /* -EBADF: none */
} HelperRequest;
int helper_run(Build *b, const HelperRequest *request, Error *reterr);
int helper_run_pair(Build *b, HelperRequest *from, HelperRequest *to, Error *reterr); /* with a pipe between them */

/* step-*.c: the actions of steps. */
extern const Sequence step_run, step_copy, step_from, step_workdir;
extern const Sequence step_user; /* looks up USER for the template, in b->passwd and b->group */
/* The first steps of most of them. */
int build_need_sandbox(void *part, Error *reterr);
int build_read_accounts(void *part, Error *reterr); /* of the current stage, if the step needs them */
int build_find_account(Build *b, const char *text, bool chown, Account *ret, Error *reterr);
void build_step_end(void *part, const Error *error); /* stage.c: for steps that change files */
void build_step_leave(void *part, const Error *error); /* stage.c: for other steps */

/* One COPY or ADD. */
typedef struct BuildCopy {
        Strv sources;       /* with variables replaced */
        char *destination;  /* absolute; a slash at the end means a directory */
        char *directory;    /* the same without the slash */
        bool is_directory;  /* it exists as a directory */
        int archive;        /* with its files; borrowed */
        bool has_owner, has_mode;
        Account owner;
        uint32_t mode;
        Selection selection;
        size_t next;        /* index of the next source, archive or text */
        bool asked;         /* COPY --from: that one has been looked up */
        uint32_t *modes;    /* COPY --from: of the sources */
} BuildCopy;
BuildCopy *build_copy_free(BuildCopy *c);
/* Appends the options of the archive program for owner and mode. `keep`: without --chown, owners stay as in
 * the archive. */
void copy_options(const BuildCopy *c, bool keep, char owner[static 32], char mode[static 16], const char **arguments, size_t *n);
static inline const Account *copy_owner(const BuildCopy *c) {
        return c->has_owner ? &c->owner : NULL;
}
static inline bool copy_means_directory(const BuildCopy *c) {
        return c->destination[strlen(c->destination) - 1] == '/';
}
int copy_refuse_file(const BuildCopy *c, Error *reterr); /* the error for several sources and a file as destination */
/* The first steps of both. */
int copy_words(void *part, Error *reterr);
int copy_find_owner(void *part, Error *reterr);
int copy_look(void *part, Error *reterr);
void copy_looked(Build *b); /* for the step after copy_look() */

/* book.c, lines.c: events of makings that have a record. */
void build_record_changed(Making *making, void *userdata);
/* Adds the new lines of the log. */
void build_record_scan(struct BuildRecord *record, const Making *making, const MakingInfo *info, usec_t at);
