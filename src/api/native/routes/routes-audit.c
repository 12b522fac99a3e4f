/* routes-audit.c: The audit log, artifacts, telemetry. */

#include "api/native/routes/routes.h"

const ApiRoute audit_routes[] = {
        { "GET", "/api/audit",        SCOPE_ADMIN, .while_recovering = true, .handle = native_audit_list,
          .queries = QUERIES("since", "until", "sandbox", "actor", "cursor", "limit", "tail", "follow") },
        { "GET", "/api/audit/verify", SCOPE_ADMIN, .while_recovering = true, .handle = native_audit_verify },

        { "GET",    "/api/artifacts",           SCOPE_READ,  .handle = native_artifact_list,
          .queries = QUERIES("owner", "kind", "cursor", "limit") },
        { "GET",    "/api/artifacts/stats",     SCOPE_ADMIN, .handle = native_artifact_stats },
        { "GET",    "/api/artifacts/{id}",      SCOPE_READ,  .handle = native_artifact_get },
        { "GET",    "/api/artifacts/{id}/info", SCOPE_READ,  .handle = native_artifact_info },
        { "DELETE", "/api/artifacts/{id}",      SCOPE_USE,   .handle = native_artifact_delete },

        { "GET", "/api/telemetry", SCOPE_ADMIN, .while_recovering = true, .handle = native_telemetry },
        { 0 },
};
