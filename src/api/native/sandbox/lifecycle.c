/* lifecycle.c: start, stop, pause, resume, timeout. */

#include <errno.h>

#include "api/native/routes/routes.h"
#include "api/native/sandbox/sandbox.h"

#define GRACE_DEFAULT (5 * USEC_PER_SEC)
#define GRACE_MAX     3600
#define TIMEOUT_MAX   (10 * 365 * 86400.0)

typedef struct StopBody {
        usec_t grace_usec;
} StopBody;

static const Shape native_stop_shape = SHAPE_FIELDS(
        { "graceSeconds", SHAPE_UINT64, offsetof(StopBody, grace_usec), SHAPE_NULLABLE, .max = GRACE_MAX, .unit = SHAPE_SECONDS });

typedef struct NativeLifecycleTimeoutBody {
        usec_t timeout_usec;
        OnTimeout on_timeout;
} NativeLifecycleTimeoutBody;

static const Shape native_timeout_shape = SHAPE_FIELDS(
        { "timeoutSeconds", SHAPE_UINT64, offsetof(NativeLifecycleTimeoutBody, timeout_usec), SHAPE_MANDATORY, .max = TIMEOUT_MAX, .unit = SHAPE_SECONDS },
        { "onTimeout",      SHAPE_ENUM,   offsetof(NativeLifecycleTimeoutBody, on_timeout),   SHAPE_NULLABLE, .names = &on_timeout_names });

static void native_sandbox_start(ApiRequest *q) {
        api_keep_caller(q, q->sandbox);
        sandbox_start(q->sandbox, call_answer_sandbox, q);
}

static void native_sandbox_stop(ApiRequest *q) {
        StopBody body = { .grace_usec = GRACE_DEFAULT };

        if (api_read(q, &body) < 0)
                return;
        api_keep_caller(q, q->sandbox);
        sandbox_stop(q->sandbox, body.grace_usec, call_answer_sandbox, q);
}

typedef struct NativeLifecyclePauseBody {
        bool to_disk, end_processes;
        usec_t grace_usec;
} NativeLifecyclePauseBody;

static const Shape native_pause_shape = SHAPE_FIELDS(
        { "toDisk",       SHAPE_BOOL,   offsetof(NativeLifecyclePauseBody, to_disk),       SHAPE_NULLABLE },
        { "endProcesses", SHAPE_BOOL,   offsetof(NativeLifecyclePauseBody, end_processes), SHAPE_NULLABLE },
        { "graceSeconds", SHAPE_UINT64, offsetof(NativeLifecyclePauseBody, grace_usec),    SHAPE_NULLABLE, .max = GRACE_MAX, .unit = SHAPE_SECONDS });

static int check_pause(ApiRequest *q, void *target, JsonComplaints *c) {
        const NativeLifecyclePauseBody *b = target;

        return b->end_processes && !b->to_disk ? json_complain(c, "endProcesses", "is for toDisk only: a pause in memory keeps them") : 0;
}

static void native_sandbox_pause(ApiRequest *q) {
        NativeLifecyclePauseBody body = { .grace_usec = GRACE_DEFAULT };
        SandboxParking how = { .why = EXECUTION_REASON_PARKED, .reason = "paused to disk" };

        if (api_read_checked(q, &body, check_pause) < 0)
                return;
        api_keep_caller(q, q->sandbox);
        how.end_processes = body.end_processes;
        how.grace_usec = body.grace_usec;
        if (body.to_disk)
                sandbox_park(q->sandbox, &how, call_answer_sandbox, q);
        else
                sandbox_pause(q->sandbox, call_answer_sandbox, q);
}

static void native_sandbox_resume(ApiRequest *q) {
        api_keep_caller(q, q->sandbox);
        sandbox_resume(q->sandbox, call_answer_sandbox, q);
}

static void native_sandbox_timeout(ApiRequest *q) {
        Sandbox *sb = q->sandbox;
        NativeLifecycleTimeoutBody body = { .on_timeout = sb->spec.on_timeout };
        OnTimeout before = sb->spec.on_timeout;
        Error error = { 0 };
        int r;

        if (api_read(q, &body) < 0)
                return;
        if (body.on_timeout == ON_TIMEOUT_PARK && !sb->spec.persistent) {
                (void) api_error(q, 400, "invalid", "make it with \"persistent\": true (cove create --persistent)", "onTimeout: the sandbox's disk goes with its processes: it cannot be parked");
                return;
        }
        sb->spec.on_timeout = body.on_timeout; /* stored together with the timeout */
        r = sandbox_set_timeout(sb, body.timeout_usec, &error);
        if (r < 0) {
                sb->spec.on_timeout = before;
                (void) api_errno(q, r, error.text);
                return;
        }
        (void) api_show(q, 200, sb);
}

#define SANDBOX "/api/sandbox/{id}"

const ApiRoute lifecycle_routes[] = {
        { "POST", SANDBOX "/start",   MAY_MANAGE, .handle = native_sandbox_start, JSON_BODY(empty), ANSWER(sandbox) },
        { "POST", SANDBOX "/stop",    MAY_MANAGE, .handle = native_sandbox_stop, JSON_BODY(stop), ANSWER(sandbox) },
        { "POST", SANDBOX "/pause",   MAY_MANAGE, .handle = native_sandbox_pause, JSON_BODY(pause), ANSWER(sandbox) },
        { "POST", SANDBOX "/resume",  MAY_MANAGE, .handle = native_sandbox_resume, JSON_BODY(empty), ANSWER(sandbox) },
        { "POST", SANDBOX "/timeout", MAY_MANAGE, .handle = native_sandbox_timeout, JSON_BODY(timeout), ANSWER(sandbox) },
        { 0 },
};
