/* calls.c: requests that wait for a sandbox. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"

typedef struct NativeCall {
        char id[SANDBOX_ID_LENGTH + 1];
        bool over;
} NativeCall;

Sandbox *sandbox_by_id(Manager *m, const char *id) {
        Sandbox *sb;

        HASH_FIND_STR(m->sandboxes, id, sb);
        return sb;
}

static void call_destroy(ApiRequest *q, bool answered) {
        NativeCall *call = q->state;
        Sandbox *sb = call->over ? NULL : sandbox_by_id(q->manager, call->id);

        if (sb)
                sandbox_forget_caller(sb, q);
        free(call);
        q->state = NULL;
}

int call_keep(ApiRequest *q, const Sandbox *sb) {
        NativeCall *call = calloc(1, sizeof(*call));

        if (!call)
                return api_errno(q, -ENOMEM, NULL), -ENOMEM;
        memcpy(call->id, sb->id, sizeof(call->id));
        q->state = call;
        q->destroy = call_destroy;
        return 0;
}

void call_over(ApiRequest *q) {
        NativeCall *call = q->state;

        call->over = true;
}

void call_answer_sandbox(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        call_over(q);
        if (error)
                (void) api_errno(q, error->code, error->text);
        else
                (void) api_answer(q, 200, api_sandbox_json(sb));
}
