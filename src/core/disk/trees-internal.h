/* trees-internal.h: calls about trees, and runs of cove-tree, among trees*.c alone. */
#pragma once

#include "core/internal.h"
#include "core/trees.h"

typedef struct TreeRun TreeRun;

struct TreeCall {
        Manager *manager;
        uint64_t token;
        TreeItem item;
        TreeDone done;
        void *userdata;
        TreeRun *run; /* NULL: none, and done is asked */
        UT_hash_handle hh; /* by token */
};

/* The program has ended, or nobody knows: tells its asker, and is gone. */
void tree_run_end(TreeRun *run, int wait_status, const Error *error);
TreeRun *tree_run_free(TreeRun *run);
