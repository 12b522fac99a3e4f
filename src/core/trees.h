/* trees.h: what coved asks about trees (base/tree-request.h), with answers by callback.
 *
 * A thin door to the provider: who may, what is whose, when what may go: that is the callers' (image/, state/), in the store. The answer comes exactly
 * once, never from within the call; a spawner that dies meanwhile is an error (-ECONNRESET: nobody knows whether it was done; ask again, all
 * operations but RUN can be asked twice).
 * Must not know: templates, snapshots, volumes. */
#pragma once

#include "base/tree-request.h"
#include "core/manager.h"

typedef struct TreeAnswer {
        int wait_status; /* RUN */
        uint64_t bytes;  /* USAGE */
} TreeAnswer;

typedef void (*TreeDone)(const TreeAnswer *answer, const Error *error /* NULL: well */, void *userdata);
typedef void (*TreeItem)(const TreeRef *ref, uint64_t bytes, void *userdata); /* LIST, before its done */

typedef struct TreeCall TreeCall;

/* fds: for a RUN, four, copied. ret may be NULL. A call that fails at once returns a negative errno and tells nothing. */
int trees_ask(Manager *m, const TreeRequest *request, const int *fds, TreeItem item, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
void tree_call_forget(TreeCall *call);  /* the asker has gone: done is not called; what was asked goes on */
void tree_call_cancel(TreeCall *call);  /* a RUN: it ends, done is called */

/* Shorter. */
TreeRef tree_ref(TreeKind kind, const char *name);
/* tenant NULL or "": none. What is made counts for its quota of disk, whatever becomes of the tree, until nothing refers to it any more. -EDQUOT: that is used up. */
int trees_make(Manager *m, const char *tenant, const TreeRef *ref, const TreeRef *from, uint64_t limit, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
void trees_set_quota(Manager *m, const char *tenant); /* it was changed, and holds for what is there already */
/* At a start: a tree that was born before trees had groups gets into its tenant's. */
void trees_regroup(Manager *m, const char *tenant, const TreeRef *ref, usec_t born);
int trees_take(Manager *m, const TreeRef *disk, const TreeRef *scratch, uint64_t limit, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
int trees_publish(Manager *m, const TreeRef *scratch, const TreeRef *as, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
int trees_remove(Manager *m, const TreeRef *ref, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
int trees_verify(Manager *m, const TreeRef *ref, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);

/* Runs cove-tree (tree/tree.h) and reads its reports: progress and result are JSON texts, one line each, whole as they came: {"progress":{…}}, {"result":{…}}.
 * in, out: -EBADF: /dev/null. On failure the error is what its line says; -ECANCELED: it was cancelled. The call is gone when done is told, and the result with it. */
typedef struct TreeRunEvents {
        void (*progress)(const char *line, void *userdata); /* may be NULL */
        void (*done)(const char *result /* NULL with an error */, const Error *error, void *userdata);
} TreeRunEvents;
int trees_run(Manager *m, const TreeRef *refs, size_t n_refs, const char *const *arguments, int in_fd, int out_fd, const TreeRunEvents *events, void *userdata,
                TreeCall **ret, Error *reterr);

/* What the spawner has told: wire's HELLO. */
bool trees_have_layers(const Manager *m);
bool trees_have_disks(const Manager *m, Error *reterr); /* false: with the reason and the cure */
