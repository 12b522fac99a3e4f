/* routes-audit.c: The audit log, artifacts. */

#include "api/native/routes.h"

const ApiRoute audit_routes[] = {
        { "GET", "/api/audit",        SCOPE_ADMIN, .while_recovering = true, .handle = native_audit_list,
          .queries = QUERIES("since", "until", "sandbox", "actor", "cursor", "limit", "tail", "follow") },
        { "GET", "/api/audit/verify", SCOPE_ADMIN, .while_recovering = true, .handle = native_audit_verify },
        { 0 },
};
