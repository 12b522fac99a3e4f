/* routes-control.c: routes of the control plane of sandboxes. Both generations of paths are present, for SDKs
 * of any age. */

#include "api/e2b/sandbox/control.h"

#define ONE "/sandboxes/{id}"
#define USE(name)  MAY_MANAGE, .handle = name, E2B_JSON, E2B_ROUTE
#define SEE(name)  MAY_SEE, .handle = name, E2B_ROUTE
#define READ(name) MAY_READ, .handle = name, E2B_ROUTE
#define DROP(name) MAY_MANAGE, .handle = name, E2B_JSON, E2B_ROUTE /* some clients send a body */

const ApiRoute e2b_control_routes[] = {
        { "POST",   "/sandboxes",            USE(e2b_sandbox_create) },
        { "POST",   "/v2/sandboxes",         USE(e2b_sandbox_create_v2) },
        { "GET",    "/sandboxes",            SEE(e2b_sandbox_list) },
        { "GET",    "/v2/sandboxes",         SEE(e2b_sandbox_list_v2) },
        { "GET",    "/sandboxes/metrics",    SEE(e2b_sandboxes_metrics) },
        { "GET",    ONE,                     SEE(e2b_sandbox_get) },
        { "DELETE", ONE,                     DROP(e2b_sandbox_kill) },
        { "POST",   ONE "/connect",          USE(e2b_sandbox_connect) },
        { "POST",   "/v2" ONE "/connect",    USE(e2b_sandbox_connect_v2) },
        { "POST",   ONE "/pause",            USE(e2b_sandbox_pause) },
        { "POST",   ONE "/resume",           USE(e2b_sandbox_resume) },
        { "POST",   ONE "/timeout",          USE(e2b_sandbox_timeout) },
        { "POST",   ONE "/refreshes",        USE(e2b_sandbox_refresh) },
        { "PUT",    ONE "/network",          USE(e2b_sandbox_network) },
        { "GET",    ONE "/metrics",          SEE(e2b_sandbox_metrics) },
        { "GET",    ONE "/logs",             READ(e2b_sandbox_logs) },
        { "GET",    "/v2" ONE "/logs",       READ(e2b_sandbox_logs_v2) },
        { "POST",   ONE "/snapshots",        USE(e2b_sandbox_snapshot) },
        { "GET",    "/snapshots",            SEE(e2b_snapshot_list) },
        { "POST",   ONE "/fork",             USE(e2b_sandbox_fork) },
        { 0 },
};
