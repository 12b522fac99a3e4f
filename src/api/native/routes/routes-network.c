/* routes-network.c: what leaves sandboxes: policies, denials, approvals. */

#include "api/native/routes/routes.h"

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute network_routes[] = {
        { "GET",  SANDBOX "/policy",           SCOPE_READ, .handle = native_policy_get },
        { "PUT",  SANDBOX "/policy",           SCOPE_USE,  .handle = native_policy_put, JSON_BODY(policy) },
        { "GET",  SANDBOX "/policy/explain",   SCOPE_READ, .handle = native_policy_explain, .queries = QUERIES("url", "method") },
        { "GET",  SANDBOX "/network/denials",  SCOPE_READ, .handle = native_network_denials, .queries = QUERIES("limit", "cursor") },
        { "GET",  SANDBOX "/network/learned",  SCOPE_READ, .handle = native_network_learned },
        { "POST", "/api/policy/check",         SCOPE_READ, .handle = native_policy_check, JSON_BODY(policy) },
        { "GET",  "/api/approvals",            SCOPE_READ, .handle = native_approval_list, .queries = QUERIES("status", "limit", "cursor") },
        { "POST", "/api/approvals/{approval}", SCOPE_USE,  .handle = native_approval_answer, JSON_BODY(approval) },
        { 0 },
};
