/* strays.c: sandboxes of attempts that are over.
 *
 * The end of an attempt is written before its sandbox is ended. A daemon that dies between the two leaves the sandbox
 * behind. The sandbox's name has the execution's id: a sandbox that no run has rejoined, and that is not to be kept, is
 * ended. */

#include <stdlib.h>
#include <string.h>

#include "agent/internal.h"
#include "base/log.h"
#include "config/config.h"
#include "agent/rows.h"

static bool strays_is_wanted(Agents *a, const Job *j) {
        bool has_run = j->status == JOB_COMPLETED || j->status == JOB_FAILED;

        return has_run && (j->keep_sandbox || !a->manager->settings->agents.auto_cleanup);
}

/* The name of an attempt's sandbox is the execution's id, a dash, and the number of the attempt. */
static bool job_of(const Sandbox *sb, char ret[static JOB_ID_LENGTH + 1]) {
        const char *name = sb->spec.name;

        if (!name || !sb->spec.agent_type || strlen(name) < JOB_ID_LENGTH + 2 || name[JOB_ID_LENGTH] != '-' ||
                        strspn(name + JOB_ID_LENGTH + 1, "0123456789") != strlen(name + JOB_ID_LENGTH + 1))
                return false;
        memcpy(ret, name, JOB_ID_LENGTH);
        ret[JOB_ID_LENGTH] = '\0';
        return true;
}

static bool strays_is(Agents *a, const Sandbox *sb) {
        _cleanup_(job_done) Job j = { 0 };
        char id[JOB_ID_LENGTH + 1];
        Run *run;

        if (sandbox_is_ending(sb) || !job_of(sb, id))
                return false;
        HASH_FIND_STR(a->runs, id, run);
        if (run) {
                const Sandbox *own = run_sandbox(run);

                return sb != own && sb != run_named_sandbox(run); /* it belongs to an earlier attempt */
        }
        return store_job_get(a->manager->store, id, &j) >= 0 && !strays_is_wanted(a, &j);
}

void agents_end_strays(Agents *a) {
        Sandbox *sb, *next;
        unsigned n = 0;

        HASH_ITER(hh, a->manager->sandboxes, sb, next)
                if (strays_is(a, sb)) {
                        sandbox_finish(sb, SANDBOX_TERMINATED, "its agent execution was over when the daemon came back");
                        n++;
                }
        if (n > 0)
                log_notice("agents: %u sandbox%s of attempts that were over", n, n == 1 ? "" : "es");
}
