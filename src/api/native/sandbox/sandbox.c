/* sandbox.c: one sandbox, and figures about all of them. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"

#define BYTES_PER_MB 1048576.0

void native_sandbox_get(ApiRequest *q) {
        (void) api_answer(q, 200, api_sandbox_json(q->sandbox));
}

static void on_deleted(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (!error)
                (void) api_answer(q, 200, json_pack("{s:s,s:b}", "id", sb->id, "deleted", 1));
        else if (error->code == -EBUSY)
                (void) api_error(q, 409, "conflict", "end them, or delete with ?force=true", "%s", error->text);
        else
                (void) api_errno(q, error->code, error->text);
}

void native_sandbox_delete(ApiRequest *q) {
        bool force = false;

        if (api_query_bool(q, "force", &force) < 0)
                return;
        api_keep_caller(q, q->sandbox);
        sandbox_delete(q->sandbox, force, on_deleted, q);
}

void native_sandbox_stats(ApiRequest *q) {
        ManagerStats s;
        json_t *o = json_object();

        manager_stats(q->manager, &q->who, &s);
        const struct {
                const char *name;
                uint64_t value;
        } rows[] = {
                { "active", s.active },
                { "provisioning", s.provisioning },
                { "terminating", s.terminating },
                { "paused", s.paused },
                { "stopped", s.stopped },
                { "ended", s.ended },
                { "total_created", s.total_created },
                { "total_destroyed", s.total_destroyed },
                { "executions_running", s.executions_running },
                { "executions_total", s.executions_total },
                { "waiting", s.waiting },
                { "cap", s.cap },
                { "pooled", s.pooled },
        };
        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                (void) json_object_set_new(o, rows[i].name, json_integer((json_int_t) rows[i].value));
        (void) api_answer(q, 200, o);
}

static double hundredths(double value) {
        return round(value * 100) / 100;
}

static usec_t lifetime(const Sandbox *sb) {
        usec_t from = sb->ready_at > 0 ? sb->ready_at : sb->created_at;
        usec_t to = sb->ended_at > 0 ? sb->ended_at : clock_wall_usec();

        return to > from ? to - from : 0;
}

/* What the host cannot tell is null; what does not run uses nothing. */
void native_sandbox_resources(ApiRequest *q) {
        const Sandbox *sb = q->sandbox;
        bool live = sandbox_status_is_live(sb->status);
        SandboxUsage u = { 0 };
        json_t *o = json_object();

        if (sandbox_usage(q->sandbox, &u) < 0)
                u = (SandboxUsage) { 0 };
        const struct {
                const char *name;
                bool known;
                double value;
        } rows[] = {
                { "cpu_percent", u.has_cpu, u.cpu_percent },
                { "memory_mb", u.has_memory, (double) u.memory_bytes / BYTES_PER_MB },
                { "memory_peak_mb", u.has_memory, (double) u.memory_peak_bytes / BYTES_PER_MB },
                { "duration_ms", true, (double) lifetime(sb) / (double) USEC_PER_MSEC },
                { "operations", true, (double) sb->operations },
                { "disk_mb", u.has_disk, (double) u.disk_bytes / BYTES_PER_MB },
                { "network_rx_mb", u.has_network, (double) u.network_rx_bytes / BYTES_PER_MB },
                { "network_tx_mb", u.has_network, (double) u.network_tx_bytes / BYTES_PER_MB },
                { "pids", u.has_pids, (double) u.pids },
                { "cpu_time_ms", u.has_cpu, (double) u.cpu_usec / (double) USEC_PER_MSEC },
                { "io_read_mb", u.has_io, (double) u.io_read_bytes / BYTES_PER_MB },
                { "io_write_mb", u.has_io, (double) u.io_write_bytes / BYTES_PER_MB },
        };
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                double value = hundredths(rows[i].value);
                json_t *number = floor(value) < value ? json_real(value) : json_integer((json_int_t) value);

                if (!rows[i].known && live) {
                        json_decref(number);
                        number = json_null();
                }
                (void) json_object_set_new(o, rows[i].name, number);
        }
        (void) api_answer(q, 200, o);
}
