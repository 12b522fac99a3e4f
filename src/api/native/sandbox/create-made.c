/* create-made.c: POST /api/sandbox, from the request to the answer; api/make.h does the part in between. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/make.h"
#include "api/native/answer.h"
#include "api/native/sandbox/create.h"
#include "api/native/sandbox/sandbox.h"
#include "core/admission.h"

/* 404 would mean that a requested object does not exist, but a creation requests none. So only these errors
 * are reported as they are. */
void native_create_failed(ApiRequest *q, int r, const char *text) {
        static const int told[] = { EINVAL, EOVERFLOW, ENOSPC, EOPNOTSUPP, EAGAIN, ECANCELED,
                                    ENAMETOOLONG, EMFILE, ENFILE, ENOMEM, ENOBUFS, ETIMEDOUT, ENOKEY, EKEYREJECTED,
                                    EKEYREVOKED, EPERM, EUSERS };

        for (size_t i = 0; i < ELEMENTSOF(told); i++)
                if (told[i] == -r) {
                        (void) api_errno(q, r, text);
                        return;
                }
        (void) api_error(q, 500, "internal", NULL, "the sandbox could not be made: %s", text && *text ? text : strerror(-r));
}

/* Reports that no place became free in time, and when to try again. */
void native_create_full(ApiRequest *q, const Error *error) {
        char seconds[16];

        (void) snprintf(seconds, sizeof(seconds), "%u", admission_retry_after(q->manager->admission));
        (void) http_add_header(q->http, "Retry-After", seconds);
        (void) api_error(q, 429, "limit_reached", "end a sandbox, try again later, or wait longer with waitSeconds", "%s", error->text);
}

static void create_made_on(ApiRequest *q, Sandbox *sb, const ApiMaking *making, const Error *error) {
        if (sb)
                (void) native_show_at(q, making->existing ? 200 : 201, "sandbox", sb->id, sb);
        else if (making->failed == MAKE_PROGRAM)
                (void) api_error(q, 500, "start_failed", "build the template again, or try the command in a sandbox of its base", "%s", error->text);
        else if (error->code == -EDQUOT)
                native_create_full(q, error);
        else if (error->code == -ENOKEY && making->references.n > 0)
                (void) native_secrets_missing(q, making->tenant, /* below= */ NULL, &making->references, error->text);
        else
                native_create_failed(q, error->code, error->text);
}

void native_sandbox_create(ApiRequest *q) {
        _cleanup_(native_create_done) CreateBody b;

        native_create_init(&b);
        if (api_read_checked(q, &b, native_create_check) >= 0 && native_create_ceiling(q, &b) >= 0)
                api_make_sandbox(q, &b.spec, /* with_program= */ !b.inherits, b.wait_usec, create_made_on);
}
