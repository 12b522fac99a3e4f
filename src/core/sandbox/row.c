/* row.c: keeps a sandbox's row consistent with the answers that callers got.
 *
 * A change of status that cannot be undone (its processes are gone, it is frozen) is written after it happened, and
 * the write can fail on a full disk, when the store's reserved space is used up too. Then
 *
 *      before    a request for such a change is refused while the row cannot be written (sandbox_row_try())
 *      after     callers that wait for the change get the failure instead of success (sandbox_row_error()), and the write is
 *                retried until it works
 *
 * The same holds for the end of an execution, which the provider keeps until it is written. */

#include <string.h>

#include "base/log.h"
#include "core/internal.h"

#define RETRY_USEC (1 * USEC_PER_SEC)

int sandbox_row_try(Sandbox *sb) {
        return store_sandbox_update(sb->manager->store, sb);
}

bool sandbox_row_error(const Sandbox *sb, Error *ret) {
        if (sb->unwritten == 0)
                return false;
        (void) error_set(ret, sb->unwritten, "the change was made but cannot be saved (%m), and a restart of the daemon would lose it: free disk space; cove retries until then");
        return true;
}

static bool row_write_again(Sandbox *sb) {
        Execution *x, *next;
        int r = 0;

        if (sb->unwritten == 0)
                return true;
        HASH_ITER(hh, sb->executions, x, next) {
                if (x->unwritten && r >= 0)
                        r = store_execution_update(sb->manager->store, x);
                if (x->unwritten && r >= 0)
                        execution_written(x);
        }
        if (r >= 0)
                r = store_sandbox_update(sb->manager->store, sb);
        if (r < 0)
                return false;
        log_info("sandbox %s: its row is saved", sb->id);
        sb->unwritten = 0;
        return true;
}

static int row_on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        Sandbox *sb, *next;
        bool all = true;

        HASH_ITER(hh, m->sandboxes, sb, next)
                all = row_write_again(sb) && all;
        m->row_retry = sd_event_source_disable_unref(m->row_retry);
        if (!all)
                manager_retry_rows(m);
        return 0;
}

void manager_retry_rows(Manager *m) {
        if (!m->row_retry && sd_event_add_time_relative(m->event, &m->row_retry, CLOCK_MONOTONIC, RETRY_USEC, 0, row_on_retry, m) < 0)
                log_error("cannot retry to save rows: out of memory");
}

static bool row_waits_for_executions(const Sandbox *sb) {
        const Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (x->unwritten)
                        return true;
        return false;
}

void sandbox_row_wrote(Sandbox *sb, int r, const char *what) {
        if (r >= 0) {
                if (sb->unwritten != 0 && !row_waits_for_executions(sb))
                        sb->unwritten = 0;
                return;
        }
        log_error("sandbox %s: cannot write %s, trying again: %s", sb->id, what, strerror(-r));
        sb->unwritten = r;
        manager_retry_rows(sb->manager);
}
