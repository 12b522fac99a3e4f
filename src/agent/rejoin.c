/* rejoin.c: attempts that were under way when the daemon ended.
 *
 * Their sandboxes and programs went on, and the core has adopted them by now. A program is found by its tag, which is
 * the execution's id, and a sandbox by its name, even if the row does not have them yet. An attempt with a sandbox and
 * no program continues with its preparation. An attempt that has lost its sandbox has failed, and is retried. */

#include <errno.h>
#include <string.h>

#include "agent/internal.h"
#include "agent/rows.h"

static Execution *rejoin_find_program(Sandbox *sb, const Job *j) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (x->spec.tag && strcmp(x->spec.tag, j->id) == 0)
                        return x;
        return NULL;
}

static void rejoin_sandbox(Run *run, Sandbox *sb) {
        run_set_sandbox(run, sb);
        memcpy(run->attempt.sandbox_id, sb->id, sizeof(run->attempt.sandbox_id));
        run->execution = rejoin_find_program(sb, &run->job);
        if (run->execution)
                run_begin(run, RUN_PROGRAM);
        else if (run->job.cancel)
                run_fail(run, RUN_FAILED, "cancelled", "cancelled before the program was started");
        else if (sandbox_is_ending(sb))
                run_fail(run, RUN_FAILED, "sandbox_lost", "the sandbox was lost while the daemon was away: %s", sb->reason ? sb->reason : "it has ended");
        else
                run_begin(run, RUN_CONTEXT);
}

int run_rejoin(Agents *a, const char *id) {
        _cleanup_(job_done) Job j = { 0 };
        Sandbox *sb;
        Run *run;
        int r = store_job_get(a->manager->store, id, &j);

        if (r < 0)
                return r;
        run = run_new(a, &j);
        if (!run)
                return -ENOMEM;
        run->attempt.number = run->job.attempt;
        run->attempt.started_at = run->job.provisioning_at;
        sb = manager_by_id(a->manager, run->job.sandbox_id);
        if (!sb)
                sb = run_named_sandbox(run);
        if (sb)
                rejoin_sandbox(run, sb);
        else if (run->job.cancel)
                run_fail(run, RUN_FAILED, "cancelled", "cancelled before the program was started");
        else if (run->job.sandbox_id[0])
                run_fail(run, RUN_FAILED, "sandbox_lost", "the sandbox was lost while the daemon was away");
        else
                run_begin(run, RUN_SANDBOX);
        return 0;
}
