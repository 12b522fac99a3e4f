/* calls.c: callers that wait for an operation on a sandbox. */

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "core/internal.h"

typedef struct SandboxCall {
        SandboxCallKind kind;
        SandboxDone done;
        void *userdata;
        struct SandboxCall *prev, *next;
} SandboxCall;

/* The calls that change the row when they are done. They are refused while the row cannot be written. An end is
 * never refused. */
static const bool calls_change_row[_CALL_MAX] = { [CALL_PAUSE] = true, [CALL_RESUME] = true, [CALL_STOP] = true, [CALL_PARK] = true };

int sandbox_call_add(Sandbox *sb, SandboxCallKind kind, SandboxDone done, void *userdata) {
        SandboxCall *call;
        int r = done && calls_change_row[kind] ? sandbox_row_try(sb) : 0; /* a call without a callback is a timer's, and is not put off */

        if (r < 0)
                return r;
        call = calloc(1, sizeof(*call));
        if (!call)
                return -ENOMEM;
        *call = (SandboxCall) { .kind = kind, .done = done, .userdata = userdata };
        DL_APPEND(sb->calls, call);
        return 0;
}

static SandboxCall *next_of_kind(Sandbox *sb, SandboxCallKind kind) {
        SandboxCall *call;

        DL_FOREACH(sb->calls, call)
                if (call->kind == kind)
                        return call;
        return NULL;
}

bool sandbox_call_waits(const Sandbox *sb, SandboxCallKind kind) {
        const SandboxCall *call;

        DL_FOREACH(sb->calls, call)
                if (call->kind == kind)
                        return true;
        return false;
}

/* A callback may add and remove calls, so the list is read anew each time. It may also delete the sandbox,
 * which is freed at once if it has ended; then it has no calls. */
bool sandbox_call_finish(Sandbox *sb, SandboxCallKind kind, const Error *error) {
        SandboxCall *call;
        Error unwritten;
        bool gone;

        if (!error && calls_change_row[kind] && sandbox_row_error(sb, &unwritten))
                error = &unwritten;
        (void) sandbox_ref(sb);
        while ((call = next_of_kind(sb, kind))) {
                SandboxCall copy = *call;

                DL_DELETE(sb->calls, call);
                free(call);
                if (copy.done)
                        copy.done(sb, error, copy.userdata);
        }
        gone = sb->gone;
        (void) sandbox_unref(sb);
        return !gone;
}

void sandbox_forget_caller(Sandbox *sb, void *userdata) {
        SandboxCall *call, *next;

        DL_FOREACH_SAFE(sb->calls, call, next) {
                if (!userdata || call->userdata != userdata)
                        continue;
                if (call->kind == CALL_PAUSE || call->kind == CALL_STOP) { /* the operation continues without its caller */
                        call->done = NULL;
                        call->userdata = NULL;
                        continue;
                }
                DL_DELETE(sb->calls, call);
                free(call);
        }
}

/* Removes the call that was added last, which could not be served. */
void sandbox_call_withdraw(Sandbox *sb, SandboxCallKind kind, void *userdata) {
        SandboxCall *call, *last = NULL;

        DL_FOREACH(sb->calls, call)
                if (call->kind == kind && call->userdata == userdata)
                        last = call;
        if (!last)
                return;
        DL_DELETE(sb->calls, last);
        free(last);
}

void sandbox_calls_free(Sandbox *sb) {
        SandboxCall *call, *next;

        DL_FOREACH_SAFE(sb->calls, call, next) {
                DL_DELETE(sb->calls, call);
                free(call);
        }
}
