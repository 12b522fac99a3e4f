/* internal.h: one build under way; what the files behind build.h share.
 *
 *      read      survey of the context · file · plan
 *      stages    in their order: base · keys of all steps · what the cache has · the rest in a sandbox
 *      step      what it does (step-*.c) · copy of the disk · cache
 *      end       user · flatten · images_put · making_end
 *
 * One thing is under way at a time (but for a pair of helpers with a pipe between them). Whatever ends, goes on by build_continue(), in another turn of the loop: nothing recurses,
 * and nothing is in the middle of something when it is freed. */
#pragma once

#include "build/account.h"
#include "build/build.h"
#include "build/context.h"
#include "build/plan.h"
#include "build/scope.h"
#include "core/acquire.h"
#include "core/feed.h"
#include "core/fileop.h"
#include "core/helper.h"

typedef struct Build Build;
typedef void (*BuildThen)(Build *b);

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
        Builds *builds;
        Manager *manager;
        Images *images;
        Making *making;
        char *tenant; /* NULL: nobody's */
        bool may_loosen;
        Scope who;
        BuildRequest request;
        const char *file; /* for complaints */
        Plan *plan;
        BuildContext *context;
        BuildContext **contexts; /* of the request's archives, in their order */
        size_t n_surveyed;
        BuildStage *stages;
        size_t stage; /* the one that is built */
        size_t n_steps, n_done; /* for the headers: [3/12] */
        usec_t began, step_began;

        /* What is under way. */
        sd_event_source *defer;
        BuildThen then, then_based;
        Acquisition *acquisition;
        size_t acquiring; /* for which stage */
        FileOp *op;
        int read_fd;      /* of what is looked at */
        char *data;       /* that is written; or what was read */
        size_t size;
        Helper *helpers[2];
        unsigned n_helpers;
        FileOp *channels[2];
        TreeCall *call;
        char scratch[TREE_NAME_MAX + 1];
        char announced[TREE_NAME_MAX + 1]; /* a tree that is being published; "": none */
        Feed feed; /* of a RUN */
        size_t turn; /* bytes of it that were logged in this one */
        BuildResult result;
        char last_line[256]; /* of what it said */

        /* What came of it. */
        FileEntry entry;
        bool found;
        Strv names;
        struct BuildCopy *copy; /* under way */
        char *passwd, *group;
        BuildThen account_then;

        Error error;
        bool waiting; /* for the images' room, which tells its end also when it is cancelled */
        bool ending, cancelled, made;
        Build *prev, *next;
};

/* build.c */
void build_continue(Build *b, BuildThen then);
void build_fail(Build *b, const Error *error); /* with its text as it is; a code of 0: it is done */
void build_fail_step(Build *b, int r, const char *format, ...) _printf_(3, 4); /* in front: file and line of the step */
bool build_heard(Build *b); /* of the images' room. False: it was cancelled meanwhile, and ends */
const PlanStep *build_step(const Build *b);
bool build_has_network(const Build *b); /* whether its steps have any; stage-sandbox.c */
static inline BuildStage *build_stage(const Build *b) {
        return b->stages + b->stage;
}
Sandbox *build_sandbox(Build *b, size_t stage); /* NULL: it is gone; the build fails then */
void build_abandon(Build *b); /* what is under way: nobody hears of it any more */

/* read.c: the first thing that is done */
void build_read(Build *b);
/* Where the files of a COPY are: the context, or the archive that it names. -ENOENT: it did not come along. */
int build_files(const Build *b, const PlanStep *step, const BuildContext **ret, int *ret_fd, Error *reterr);

/* stage.c */
void stages_begin(Build *b);
void stage_step_done(Build *b); /* what it does is done: keep it, then the next */

/* stage-base.c: finds what the current stage stands on */
void stage_begin(Build *b, BuildThen then);
bool build_is_spawners(const Manager *m, const char *name); /* "host", or one of --template */

/* stage-sandbox.c: a sandbox of that stage as it is now. Goes on with `then` when there is one. */
void stage_need_sandbox(Build *b, size_t stage, BuildThen then);
void stage_leave_sandbox(Build *b); /* the current one's, unless others copy out of it */

/* keep.c: the disk as it is becomes a snapshot with the step's key. */
void stage_keep(Build *b, const char *key, BuildThen then);

/* ops.c: each goes on with `then`; what fails, fails the step, unless it says otherwise. As guest root. */
void ops_stat(Build *b, Sandbox *sb, const char *path, BuildThen then);     /* found, entry */
void ops_list(Build *b, Sandbox *sb, const char *path, BuildThen then);     /* names */
void ops_mkdir(Build *b, Sandbox *sb, const char *path, const Account *owner, BuildThen then); /* with what is missing on the way; owner NULL: root */
void ops_read(Build *b, Sandbox *sb, const char *path, BuildThen then);     /* data, NULL: there is none; size */
void ops_write(Build *b, Sandbox *sb, const char *path, uint32_t mode, const Account *owner, char *data_take, size_t size, BuildThen then);
/* Reads the current stage's users and groups, for build_find_account(). */
void op_accounts(Build *b, BuildThen then);
int build_find_account(Build *b, const char *text, bool chown, Account *ret, Error *reterr);

/* helpers: starts one, on a worker of the sandbox or on none (sb NULL). All that were started are waited for by helpers_wait(). */
typedef struct HelperRequest {
        const char *const *arguments;
        Sandbox *sandbox; /* NULL: no worker */
        FileOperation operation;
        const char *path;
        int in, out, list; /* -EBADF: none */
} HelperRequest;
int helper_run(Build *b, const HelperRequest *request);
void helpers_wait(Build *b, BuildThen then);

/* step-*.c */
void step_run(Build *b);
void step_copy(Build *b);
void step_workdir(Build *b);

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
        char *source;       /* COPY --from: that is copied */
        uint32_t source_mode;
} BuildCopy;
BuildCopy *build_copy_free(BuildCopy *c);
/* The options of the archive program for its owner and mode; `keep`: owners stay as they are when none was said. */
void copy_options(const BuildCopy *c, bool keep, char owner[static 32], char mode[static 16], const char **arguments, size_t *n);
void copy_from(Build *b); /* step-from.c: out of another stage */

/* book.c, lines.c: records of builds hear of their makings. */
void build_record_changed(Making *making, void *userdata);
void build_record_scan(struct BuildRecord *record, const Making *making, const MakingInfo *info, usec_t at); /* lines that have come since the last time */

/* finish.c */
void build_finish(Build *b);
