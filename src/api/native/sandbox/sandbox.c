/* sandbox.c: one sandbox, and statistics about all of them. */

#include <errno.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/sandbox/sandbox.h"

static void native_sandbox_get(ApiRequest *q) {
        (void) api_show(q, 200, q->sandbox);
}

static void on_deleted(Sandbox *sb, const Error *error, void *userdata) {
        if (error && error->code == -EBUSY)
                (void) api_error(userdata, 409, "conflict", "end them, or delete with ?force=true", "%s", error->text);
        else
                native_answer_deleted(userdata, sb->id, error ? error->code : 0, error ? error->text : NULL);
}

static void native_sandbox_delete(ApiRequest *q) {
        bool force = false;

        if (api_query_bool(q, "force", &force) < 0)
                return;
        api_keep_caller(q, q->sandbox);
        sandbox_delete(q->sandbox, force, on_deleted, q);
}

#define COUNT(member) { #member, SHAPE_UINT64, offsetof(ManagerStats, member) }
static const Shape native_stats_answer = SHAPE_FIELDS(
        COUNT(active), COUNT(provisioning), COUNT(terminating), COUNT(paused), COUNT(stopped), COUNT(ended), COUNT(total_created),
        COUNT(total_destroyed), COUNT(executions_running), COUNT(executions_total), COUNT(waiting), COUNT(cap), COUNT(pooled));

static void native_sandbox_stats(ApiRequest *q) {
        ManagerStats s;

        manager_stats(q->manager, &q->who, &s);
        (void) api_show(q, 200, &s);
}

/* Resources. */

typedef struct SandboxResources {
        SandboxUsage usage;
        usec_t lifetime;
        uint64_t operations;
} SandboxResources;

static json_t *sandbox_show_hundredths(const ShapeField *f, const void *object) {
        double value = f->kind == SHAPE_DOUBLE ? *(const double *) shape_at(f, object) : (double) shape_get(f, object);

        return json_rounded(value / shape_scale(f->unit), 100);
}

#define OF(member)             offsetof(SandboxResources, member)
#define MEASURED(member, has)  OF(usage.member), SHAPE_MEASURED, .count = OF(usage.has)
#define HUNDREDTHS             .json = SHAPE_SHOW(sandbox_show_hundredths)
static const Shape native_resources_answer = SHAPE_FIELDS(
        { "cpu_percent",    SHAPE_DOUBLE, MEASURED(cpu_percent, has_cpu),           HUNDREDTHS },
        { "memory_mb",      SHAPE_UINT64, MEASURED(memory_bytes, has_memory),       HUNDREDTHS, .unit = SHAPE_MEGABYTES },
        { "memory_peak_mb", SHAPE_UINT64, MEASURED(memory_peak_bytes, has_memory),  HUNDREDTHS, .unit = SHAPE_MEGABYTES },
        { "duration_ms",    SHAPE_UINT64, OF(lifetime),                             HUNDREDTHS, .unit = SHAPE_MILLISECONDS },
        { "operations",     SHAPE_UINT64, OF(operations) },
        { "disk_mb",        SHAPE_UINT64, MEASURED(disk_bytes, has_disk),           HUNDREDTHS, .unit = SHAPE_MEGABYTES },
        { "network_rx_mb",  SHAPE_UINT64, MEASURED(network_rx_bytes, has_network),  HUNDREDTHS, .unit = SHAPE_MEGABYTES },
        { "network_tx_mb",  SHAPE_UINT64, MEASURED(network_tx_bytes, has_network),  HUNDREDTHS, .unit = SHAPE_MEGABYTES },
        { "pids",           SHAPE_UINT64, MEASURED(pids, has_pids) },
        { "cpu_time_ms",    SHAPE_UINT64, MEASURED(cpu_usec, has_cpu),              HUNDREDTHS, .unit = SHAPE_MILLISECONDS },
        { "io_read_mb",     SHAPE_UINT64, MEASURED(io_read_bytes, has_io),          HUNDREDTHS, .unit = SHAPE_MEGABYTES },
        { "io_write_mb",    SHAPE_UINT64, MEASURED(io_write_bytes, has_io),         HUNDREDTHS, .unit = SHAPE_MEGABYTES });

static usec_t sandbox_lifetime(const Sandbox *sb) {
        usec_t from = sb->ready_at > 0 ? sb->ready_at : sb->created_at;
        usec_t to = sb->ended_at > 0 ? sb->ended_at : clock_wall_usec();

        return to > from ? to - from : 0;
}

/* Values that the host cannot measure are null. A sandbox that does not run uses nothing. */
static void native_sandbox_resources(ApiRequest *q) {
        SandboxResources r = { .lifetime = sandbox_lifetime(q->sandbox), .operations = q->sandbox->operations };
        SandboxUsage *u = &r.usage;

        if (sandbox_usage(q->sandbox, u) < 0)
                *u = (SandboxUsage) { 0 };
        if (!sandbox_status_is_live(q->sandbox->status))
                u->has_cpu = u->has_memory = u->has_disk = u->has_network = u->has_pids = u->has_io = true;
        (void) api_show(q, 200, &r);
}

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute sandbox_routes[] = {
        { "POST",   "/api/sandbox",       MAY_MANAGE, .handle = native_sandbox_create, JSON_BODY(sandbox), ANSWER(sandbox) },
        { "GET",    "/api/sandbox/list",  MAY_SEE,    .handle = native_sandbox_list, ANSWER_LIST(sandbox),
          .queries = QUERIES("status", "agentType", "taskId", "name", "metadata.", "limit", "cursor", "pooled") },
        { "GET",    "/api/sandbox/stats", MAY_SEE,    .handle = native_sandbox_stats, ANSWER(stats) },
        { "GET",    SANDBOX,              MAY_SEE,    .handle = native_sandbox_get, ANSWER(sandbox) },
        { "DELETE", SANDBOX,              MAY_MANAGE, .handle = native_sandbox_delete, ANSWER(deleted), .queries = QUERIES("force") },
        { "GET",    SANDBOX "/resources", MAY_SEE,    .handle = native_sandbox_resources, ANSWER(resources) },
        { 0 },
};
