/* Commits or drops the changes of a transaction, and removes them from its upper. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "txn/commit.h"
#include "txn/plan.h"

static int drop_one(int upper_fd, const char *path, Error *reterr) {
        const char *name;
        _cleanup_close_ int parent = beneath_open_parent(upper_fd, path, &name);
        int r = parent == -ENOENT || parent == -ENOTDIR ? 0 : parent < 0 ? parent : txn_remove_tree(parent, name);

        return r < 0 ? error_set(reterr, r, "cannot drop '%s' from the transaction: %m", path) : 0;
}

static int drop_everything(int upper_fd, Error *reterr) {
        _cleanup_directory_ DIR *directory = directory_open(upper_fd, ".");
        const struct dirent *entry;
        int r = directory ? 0 : error_set(reterr, -errno, "cannot read the transaction: %m");

        while (r >= 0 && (entry = directory_next(directory)))
                r = drop_one(upper_fd, entry->d_name, reterr);
        return r;
}

int commit_drop(const Txn *t, const char *const *paths, size_t n_paths, Error *reterr) {
        _cleanup_close_ int upper = txn_open_upper(t, reterr);
        int r = upper < 0 ? upper : 0;

        for (size_t i = 0; i < n_paths && r >= 0; i++)
                r = paths[i][0] ? drop_one(upper, paths[i], reterr) : drop_everything(upper, reterr);
        return r;
}

static int open_target(const Txn *t, const char *to, Error *reterr) {
        int fd;

        if (!to)
                return txn_open_dir(t, reterr);
        fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? error_set(reterr, -errno, "'%s': %m", to) : fd;
}

static int nothing_left(const Txn *t, int dir, int upper, Error *reterr) {
        ChangeCount count;
        int r = changes_count(dir, upper, &count, reterr);

        return r < 0 ? r : count.total == 0;
}

int commit_txn(Txn *t, const char *to, const CommitOptions *o, CommitResult *ret, bool *ret_gone, Error *reterr) {
        _cleanup_close_ int dir = open_target(t, to, reterr), upper = -EBADF;
        int r;

        *ret_gone = false;
        if (dir < 0)
                return dir;
        upper = txn_open_upper(t, reterr);
        if (upper < 0)
                return upper;
        r = commit_run(t, dir, upper, o, ret, reterr);
        if (r < 0 || to || o->dry) /* changes that were applied elsewhere are still changes here */
                return r;
        if (o->n_paths > 0) {
                r = commit_drop(t, o->paths, o->n_paths, reterr);
                if (r >= 0)
                        r = nothing_left(t, dir, upper, reterr);
        } else
                r = 1;
        if (r <= 0)
                return r;
        r = txn_remove(t, reterr);
        *ret_gone = r >= 0;
        return r;
}
