/* trees.h: the daemon's requests about trees (base/tree-request.h), answered by callbacks.
 *
 * A thin layer over the provider. Permissions, ownership and lifetime of trees are the callers' business (image/,
 * state/), in the store. The answer comes exactly once, never from within the call. -ECONNRESET: the spawner died,
 * and it is not known whether the operation was done; ask again: all operations but RUN can be repeated.
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

/* fds: for a RUN, four, copied. ret may be NULL. A call that fails at once returns a negative errno; done is not
 * called. */
int trees_ask(Manager *m, const TreeRequest *request, const int *fds, TreeItem item, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
void tree_call_forget(TreeCall *call);  /* the caller has gone: done is not called; the operation goes on */
void tree_call_cancel(TreeCall *call);  /* for a RUN: ends it; done is called */

/* Short forms. */
TreeRef tree_ref(TreeKind kind, const char *name);
/* tenant NULL or "": none. The data count against the tenant's quota of disk until nothing refers to them any more,
 * also after the tree is removed. -EDQUOT: the quota is used up. */
int trees_make(Manager *m, const char *tenant, const TreeRef *ref, const TreeRef *from, uint64_t limit, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
void trees_set_quota(Manager *m, const char *tenant); /* applies a changed quota to existing trees */
/* At a start: puts a tree that was made before trees had groups into its tenant's group. */
void trees_regroup(Manager *m, const char *tenant, const TreeRef *ref, usec_t born);
int trees_take(Manager *m, const TreeRef *disk, const TreeRef *scratch, uint64_t limit, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
int trees_publish(Manager *m, const TreeRef *scratch, const TreeRef *as, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
int trees_remove(Manager *m, const TreeRef *ref, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);
int trees_verify(Manager *m, const TreeRef *ref, TreeDone done, void *userdata, TreeCall **ret, Error *reterr);

/* Runs cove-tree (tree/tree.h) and reads its reports: progress and result are JSON texts, one unchanged line each:
 * {"progress":{…}}, {"result":{…}}. in_fd, out_fd: -EBADF: /dev/null. A failure has the error of the program's
 * line; -ECANCELED: it was cancelled. The call is freed when done is called, and the result after it. */
typedef struct TreeRunEvents {
        void (*progress)(const char *line, void *userdata); /* may be NULL */
        void (*done)(const char *result /* NULL with an error */, const Error *error, void *userdata);
} TreeRunEvents;
int trees_run(Manager *m, const TreeRef *refs, size_t n_refs, const char *const *arguments, int in_fd, int out_fd, const TreeRunEvents *events, void *userdata,
                TreeCall **ret, Error *reterr);

/* Capabilities that the spawner has reported in its HELLO (wire). */
bool trees_have_layers(const Manager *m);
bool trees_have_disks(const Manager *m, Error *reterr); /* false: the error has the reason and the cure */
