/* routes-cleanup.c: Clean-up, reconciliation, health checks, diagnosis. */

#include "api/native/routes/routes.h"

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute cleanup_routes[] = {
        { "GET",  "/api/sandbox/cleanup",           SCOPE_ADMIN, .handle = native_cleanup_status, .queries = QUERIES("limit") },
        { "POST", "/api/sandbox/cleanup",           SCOPE_ADMIN, .handle = native_cleanup, JSON_BODY(empty),
          .queries = QUERIES("dryRun", "maxAgeSeconds") },
        { "POST", "/api/sandbox/cleanup/emergency", SCOPE_ADMIN, .handle = native_cleanup_emergency, JSON_BODY(empty),
          .queries = QUERIES("dryRun") },
        { "POST", "/api/sandbox/reconcile",         SCOPE_ADMIN, .handle = native_reconcile, JSON_BODY(empty),
          .queries = QUERIES("dryRun") },
        { "GET",  "/api/sandbox/audit",             SCOPE_ADMIN, .handle = native_audit },
        { "GET",  SANDBOX "/diagnosis",             SCOPE_READ,  .handle = native_diagnosis, .queries = QUERIES("sampleMs") },
        { "GET",  SANDBOX "/health",                SCOPE_READ,  .handle = native_sandbox_health },
        { 0 },
};
