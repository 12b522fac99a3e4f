/* trees-internal.h: tree calls and runs of cove-tree; private to trees*.c. */
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
        TreeRun *run; /* NULL: not a run; done is called */
        UT_hash_handle hh; /* by token */
};

/* The program has ended, or its fate is unknown (error): calls back and frees the run. */
void tree_run_end(TreeRun *run, int wait_status, const Error *error);
TreeRun *tree_run_free(TreeRun *run);
