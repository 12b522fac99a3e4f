#include "api/account.h"

#include <stdio.h>
#include <string.h>

#include "api/stranger.h"
#include "core/stranger.h"
#include "observe/audit.h"
#include "observe/observe.h"

#define FILES "/api/sandbox/{id}/files"

static const char *path_of(const ApiRequest *q) {
        return q->shown_path[0] ? q->shown_path : http_path(q->http);
}

static bool is_read(const char *method) {
        return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* "path" is the only query parameter that is recorded. Values of others are not. */
static const char *file_of(const ApiRequest *q) {
        if (!q->route || strncmp(q->route->path, FILES, strlen(FILES)) != 0)
                return NULL;
        return http_query(q->http, "path");
}

static void tell_audit(ApiRequest *q, unsigned status, const char *remote) {
        const AuditCall call = {
                .actor = q->actor[0] ? q->actor : "unknown",
                .tenant = q->who.tenant,
                .remote = remote,
                .method = http_method(q->http),
                .route = q->route ? q->route->path : NULL,
                .path = path_of(q),
                .path_max = q->has_proved ? 0 : STRANGER_PATH_BYTES,
                .file = file_of(q),
                .sandbox = q->sandbox_id,
                .execution = q->execution_id,
                .status = status,
                .duration_usec = clock_usec() - q->began,
                .reads = is_read(http_method(q->http)),
        };

        audit_call(q->api->rooms.audit, &call);
}

/* Reports events that a reviewer should see without reading every call. told: the event is recorded in full,
 * and not only counted. */
static void tell_security(ApiRequest *q, unsigned status, const char *remote, bool told) {
        const char *method = http_method(q->http), *path = path_of(q), *file = file_of(q);

        if (status == 401 && q->gave_secret && !told)
                observe_security_count(q->manager, "auth-failed");
        else if (status == 401 && q->gave_secret)
                observe_security(q->manager, "auth-failed", /* sb= */ NULL, "%s %.200s from %s: the key is not valid", method, path, remote);
        else if (q->over_scope)
                observe_security(q->manager, "policy", /* sb= */ NULL, "%s %.200s from %s: not allowed to %s", method, path, remote,
                                q->actor[0] ? q->actor : "unknown");
        else if ((status == 403 || status == 400) && file && q->sandbox_id[0])
                observe_security(q->manager, "path-refused", sandbox_unless_gone(q->about), "%s %.200s of '%.200s'", method, q->route->path + strlen("/api/sandbox/{id}"),
                                file);
}

/* Labelled by the pattern of the route, not by the path, so that the number of labels is limited. */
static void tell_metrics(const ApiRequest *q, unsigned status) {
        char route[METRIC_LABEL_BYTES];

        if (!q->api->rooms.observe || status == 0)
                return;
        (void) snprintf(route, sizeof(route), "%s %s", q->route ? q->route->method : "", q->route ? q->route->path : "");
        observe_http(q->api->rooms.observe, q->route ? route : NULL, status, clock_usec() - q->began);
}

void account_call(ApiRequest *q, unsigned status) {
        char remote[96];
        bool told;

        if (q->accounted)
                return;
        q->accounted = true;
        tell_metrics(q, status);
        if (q->route && q->route->needs == MAY_PING && status < 400)
                return; /* successful health checks are not recorded */
        http_peer_print(q->http, remote, sizeof(remote));
        told = q->has_proved || strangers_admit(q->api->strangers, remote, status);
        if (q->api->rooms.audit && told)
                tell_audit(q, status, remote);
        tell_security(q, status, remote, told);
}
