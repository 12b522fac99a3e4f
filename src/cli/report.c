#include "cli/report.h"

#include "base/json.h"

static void add_guards(JsonWriter *w, const char *key, GuardSet set) {
        json_begin_list(w, key);
        for (Guard g = 0; g < _GUARD_MAX; g++)
                if (set & GUARD_BIT(g))
                        json_write_string(w, /* key= */ NULL, guard_name(g));
        json_end_list(w);
}

static void cli_report_add_number(JsonWriter *w, const char *key, bool known, uint64_t value) {
        if (known)
                json_write_integer(w, key, (int64_t) value);
        else
                json_write_null(w, key);
}

/* If there is a cgroup, its count is used: it has the whole tree, also processes that no parent waited for. */
static void add_cpu(JsonWriter *w, const Outcome *out) {
        const CgroupUsage *cg = &out->usage.cgroup;
        usec_t user = out->usage.user_usec, system = out->usage.system_usec;

        /* cgroup v1 splits by ticks, so a short run has a split of zero: then the sum is the cgroup's, and
         * the shares are wait(2)'s. */
        if (cg->has_cpu && cg->cpu_user_usec + cg->cpu_system_usec < cg->cpu_usec / 2 && user + system > 0) {
                user = (usec_t) ((double) cg->cpu_usec * (double) user / (double) (user + system));
                system = cg->cpu_usec - user;
        } else if (cg->has_cpu) {
                user = cg->cpu_user_usec;
                system = cg->cpu_system_usec;
        }
        json_write_thousandths(w, "cpu_user_ms", user);
        json_write_thousandths(w, "cpu_system_ms", system);
}

static void cli_report_add_usage(JsonWriter *w, const Outcome *out) {
        const CgroupUsage *cg = &out->usage.cgroup;

        json_write_thousandths(w, "wall_ms", out->wall_usec);
        add_cpu(w, out);
        cli_report_add_number(w, "memory_peak_bytes", true, cg->has_memory ? cg->memory_peak_bytes : out->usage.max_rss_bytes);
        cli_report_add_number(w, "oom_kills", cg->has_memory, cg->oom_kills);
        cli_report_add_number(w, "pids_peak", cg->has_pids_peak, cg->pids_peak);
        cli_report_add_number(w, "io_read_bytes", cg->has_io_read, cg->io_read_bytes);
        cli_report_add_number(w, "io_write_bytes", cg->has_io_write, cg->io_write_bytes);
}

int report_write(int fd, const RunOptions *o, const Outcome *out) {
        JsonWriter w = { 0 };

        json_begin_object(&w, /* key= */ NULL);
        json_write_string(&w, "id", o->spec.id);
        json_write_string(&w, "reason", reason_name(out->reason));
        cli_report_add_number(&w, "exit_code", out->exit_code >= 0, (uint64_t) out->exit_code);
        cli_report_add_number(&w, "signal", out->signal > 0, (uint64_t) out->signal);
        json_write_integer(&w, "exit_status", out->exit_status);
        json_write_string(&w, "message", out->message[0] ? out->message : NULL);
        cli_report_add_usage(&w, out);
        cli_report_add_number(&w, "stdout_bytes", out->counted, out->stdout_bytes);
        cli_report_add_number(&w, "stderr_bytes", out->counted && !o->tty, out->stderr_bytes);
        json_write_bool(&w, "stdout_truncated", out->stdout_truncated || out->stdout_lost);
        json_write_bool(&w, "stderr_truncated", out->stderr_truncated || out->stderr_lost);
        json_write_string(&w, "disk_backing", disk_backing_name(out->disk_backing));
        cli_report_add_number(&w, "disk_used_bytes", out->disk_bytes > 0, out->disk_bytes);
        json_write_bool(&w, "disk_full", out->disk_full);
        add_guards(&w, "guards", out->guards);
        add_guards(&w, "guards_missing", out->guards_missing);
        run_txn_report(&o->txn, &w);
        json_end_object(&w);
        return json_finish(&w, fd);
}
