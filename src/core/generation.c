#include "core/generation.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "core/ailment.h"
#include "core/store.h"

#define FILE_NAME "generation"

static int generation_read(int dirfd, uint64_t *ret) {
        int r = file_read_uint64(dirfd, FILE_NAME, ret);

        if (r == -ENOENT)
                *ret = 0;
        return r == -ENOENT ? 0 : r;
}

static int generation_write(int dirfd, uint64_t value) {
        _cleanup_close_ int fd = openat(dirfd, FILE_NAME ".new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        char text[32];
        int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", value), r;

        if (fd < 0)
                return -errno;
        r = fd_write_all(fd, text, (size_t) n);
        if (r >= 0 && (fsync(fd) < 0 || renameat(dirfd, FILE_NAME ".new", dirfd, FILE_NAME) < 0))
                r = -errno;
        return r;
}

/* The store first: if the daemon dies in between, the store is ahead, which raises no doubt. */
static int generation_advance(Manager *m, int dirfd, uint64_t before) {
        int r = store_counter_set(m->store, "generation", before + 1);

        if (r >= 0)
                r = store_sync(m->store);
        if (r >= 0)
                r = generation_write(dirfd, before + 1);
        if (r >= 0)
                m->generation = before + 1;
        return r;
}

static void generation_doubt(Manager *m) {
        m->doubts_store = true;
        manager_ail(m, "store", /* ill= */ false,
                        "the store is older than what lies beside it, or new: nothing that it has no record of is used or removed (`cove quarantine ls`). Put the right store back");
}

static int generation_compare(Manager *m, int dirfd, uint64_t *ret_newest) {
        uint64_t stored = 0, beside = 0, doubted = 0;
        int r = store_counter_get(m->store, "generation", &stored);

        if (r >= 0)
                r = store_counter_get(m->store, "doubted", &doubted);
        if (r >= 0)
                r = generation_read(dirfd, &beside);
        if (r < 0)
                return r;
        if (stored < beside && doubted == 0)
                r = store_counter_set(m->store, "doubted", doubted = 1);
        if (doubted != 0)
                generation_doubt(m);
        *ret_newest = MAX_OF(stored, beside);
        return r;
}

int generation_begin(Manager *m, Error *reterr) {
        _cleanup_close_ int dirfd = open(m->config.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        uint64_t newest = 0;
        int r = dirfd < 0 ? -errno : generation_compare(m, dirfd, &newest);

        if (r >= 0)
                r = generation_advance(m, dirfd, newest);
        if (r == -ENOSPC || r == -EDQUOT || r == -EROFS) { /* a full disk must not keep a daemon from its sandboxes */
                log_warning("the store's generation cannot be saved: %s", strerror(-r));
                return 0;
        }
        return r < 0 ? error_set(reterr, r, "'%s/" FILE_NAME "': %m", m->config.state_dir) : 0;
}

void generation_end(Manager *m) {
        _cleanup_close_ int dirfd = open(m->config.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (dirfd >= 0 && m->generation > 0)
                (void) generation_advance(m, dirfd, m->generation);
}

void generation_settled(Manager *m) {
        if (!m->doubts_store || store_counter_set(m->store, "doubted", 0) < 0)
                return;
        m->doubts_store = false;
        manager_heal(m, "store");
}
