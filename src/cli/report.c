#include "cli/report.h"

static json_t *guard_list(GuardSet set) {
        json_t *list = json_array();

        for (Guard g = 0; g < _GUARD_MAX; g++)
                if (set & GUARD_BIT(g))
                        (void) json_array_append_new(list, json_string(guard_name(g)));
        return list;
}

static json_t *number_or_null(bool known, uint64_t value) {
        return known ? json_integer((json_int_t) value) : json_null();
}

static double milliseconds(usec_t usec) {
        return (double) usec / 1000.0;
}

/* Counted by the cgroup where there is one: it has all of the tree, also what nobody waited for. */
static void add_usage(json_t *report, const Outcome *out) {
        const CgroupUsage *cg = &out->usage.cgroup;
        usec_t user = out->usage.user_usec, system = out->usage.system_usec;

        /* v1 splits by ticks, and so calls a short run free: then the sum is its, the shares are wait(2)'s. */
        if (cg->has_cpu && cg->cpu_user_usec + cg->cpu_system_usec < cg->cpu_usec / 2 && user + system > 0) {
                user = (usec_t) ((double) cg->cpu_usec * (double) user / (double) (user + system));
                system = cg->cpu_usec - user;
        } else if (cg->has_cpu) {
                user = cg->cpu_user_usec;
                system = cg->cpu_system_usec;
        }

        (void) json_object_set_new(report, "wall_ms", json_real(milliseconds(out->wall_usec)));
        (void) json_object_set_new(report, "cpu_user_ms", json_real(milliseconds(user)));
        (void) json_object_set_new(report, "cpu_system_ms", json_real(milliseconds(system)));
        (void) json_object_set_new(report, "memory_peak_bytes",
                        json_integer((json_int_t) (cg->has_memory ? cg->memory_peak_bytes : out->usage.max_rss_bytes)));
        (void) json_object_set_new(report, "oom_kills", number_or_null(cg->has_memory, cg->oom_kills));
        (void) json_object_set_new(report, "pids_peak", number_or_null(cg->has_pids_peak, cg->pids_peak));
        (void) json_object_set_new(report, "io_read_bytes", number_or_null(cg->has_io, cg->io_read_bytes));
        (void) json_object_set_new(report, "io_write_bytes", number_or_null(cg->has_io, cg->io_write_bytes));
}

json_t *report_make(const RunOptions *o, const Outcome *out) {
        json_t *report = json_object();

        if (!report)
                return NULL;
        (void) json_object_set_new(report, "id", json_string(o->spec.id));
        (void) json_object_set_new(report, "reason", json_string(reason_name(out->reason)));
        (void) json_object_set_new(report, "exit_code",
                        out->exit_code >= 0 ? json_integer(out->exit_code) : json_null());
        (void) json_object_set_new(report, "signal", out->signal > 0 ? json_integer(out->signal) : json_null());
        (void) json_object_set_new(report, "exit_status", json_integer(out->exit_status));
        (void) json_object_set_new(report, "message", out->message[0] ? json_string(out->message) : json_null());
        add_usage(report, out);
        (void) json_object_set_new(report, "stdout_bytes", number_or_null(out->counted, out->stdout_bytes));
        (void) json_object_set_new(report, "stderr_bytes",
                        number_or_null(out->counted && !o->tty, out->stderr_bytes));
        (void) json_object_set_new(report, "stdout_truncated", json_boolean(out->stdout_truncated));
        (void) json_object_set_new(report, "stderr_truncated", json_boolean(out->stderr_truncated));
        (void) json_object_set_new(report, "disk_backing", json_string(disk_backing_name(out->disk_backing)));
        (void) json_object_set_new(report, "disk_used_bytes",
                        number_or_null(out->disk_bytes > 0, out->disk_bytes));
        (void) json_object_set_new(report, "disk_full", json_boolean(out->disk_full));
        (void) json_object_set_new(report, "guards", guard_list(out->guards));
        (void) json_object_set_new(report, "guards_missing", guard_list(out->guards_missing));
        return report;
}
