#include "observe/lifelog.h"

#include "base/log.h"

static void lifelog_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        const char *reason = sb->reason ? sb->reason : "";

        if (!log_infos || sb->pooled || (from == SANDBOX_READY && to == SANDBOX_RUNNING) || (from == SANDBOX_RUNNING && to == SANDBOX_READY))
                return; /* executions log this themselves */
        if (from == to)
                log_sandbox("info", sb->id, to == SANDBOX_INITIALIZING ? "created" : "claimed from a pool");
        else
                log_sandbox("info", sb->id, "%s → %s%s%s", sandbox_status_name(from), sandbox_status_name(to), *reason ? ": " : "", reason);
}

static void lifelog_on_execution_ended(Execution *x, void *userdata) {
        if (log_infos && !x->sandbox->pooled)
                log_sandbox("info", x->sandbox->id, "%s ended: %s, exit code %d, after %llu ms%s%s", x->id, execution_reason_name(x->reason),
                                x->exit_code, (unsigned long long) (x->duration_usec / USEC_PER_MSEC), x->message ? ": " : "",
                                x->message ? x->message : "");
}

static void lifelog_on_security(const char *kind, Sandbox *sb, const char *text, void *userdata) {
        if (!text)
                return;
        if (sb)
                log_sandbox("info", sb->id, "security: %s: %s", kind, text);
        else
                log_info("security: %s: %s", kind, text);
}

void lifelog_start(Lifelog *l, Manager *m) {
        l->observer = (CoreObserver) { .status = lifelog_on_status, .execution_ended = lifelog_on_execution_ended, .security = lifelog_on_security, .userdata = l };
        manager_observe(m, &l->observer);
}
