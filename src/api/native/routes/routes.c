/* routes.c: all tables of routes of the native surface. test/api/contract compares them with
 * docs/openapi.yaml. */

#include "api/native/routes/routes.h"

const Shape native_empty_shape;

const ApiRoute *const native_tables[] = {
        info_routes,
        sandbox_routes,
        lifecycle_routes,
        execution_routes,
        file_routes,
        key_routes,
        tenant_routes,
        usage_routes,
        profile_routes,
        pool_routes,
        depot_routes,
        agent_routes,
        artifact_routes,
        cleanup_routes,
        quarantine_routes,
        diagnosis_routes,
        metrics_routes,
        alert_routes,
        audit_routes,
        telemetry_routes,
        config_routes,
        preview_routes,
        secret_routes,
        network_routes,
        build_routes,
        template_routes,
        template_gc_routes,
        making_routes,
        snapshot_routes,
        fork_routes,
        volume_routes,
        change_routes,
        recording_routes,
        context_routes,
        NULL,
};

const ApiSurface native_surface = {
        .name = "native",
        .tables = native_tables,
};
