/* calls.c: requests that wait for a sandbox. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/sandbox/sandbox.h"

void call_answer_sandbox(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                (void) api_errno(q, error->code, error->text);
        else
                (void) api_show(q, 200, sb);
}
