/* templates-files.c: uploads of files for a build: the upload link, and the upload itself. uploads.h stores
 * them. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/e2b/template/templates.h"
#include "base/fd.h"
#include "base/parse.h"
#include "build/steps.h"
#include "config/config.h"
#include "core/secret.h"

#define LINK_LIFE 3600 /* seconds */
#define SIGNED    "e2b-upload"

int e2b_upload_open(ApiRequest *q, const char *hash) {
        return e2b_uploads_open(e2b_uploads_of(q->api), e2b_own_tenant(q), hash);
}

/* GET /templates/{id}/files/{hash}. The link contains tenant, hash and expiry, and permits only this
 * upload. */

static void sign_link(ApiRequest *q, const char *tenant, const char *hash, uint64_t expires, char ret[static E2B_SIGNATURE_SIZE]) {
        char text[ACCESS_NAME_MAX + STEPS_HASH + 32];

        (void) snprintf(text, sizeof(text), "%.*s\n%.*s\n%llu", ACCESS_NAME_MAX, tenant, STEPS_HASH, hash, (unsigned long long) expires);
        e2b_sign(q->api, SIGNED, text, ret);
}

void e2b_upload_link(ApiRequest *q) {
        const char *hash = q->parameters[1], *host = http_header(q->http, "Host"), *tenant = e2b_own_tenant(q);
        const uint64_t expires = (uint64_t) time(NULL) + LINK_LIFE;
        char signature[E2B_SIGNATURE_SIZE];
        _cleanup_close_ int there = -EBADF;
        E2bFound t;

        if (e2b_template_need(q, q->parameters[0], /* own= */ true, &t) < 0)
                return;
        if (!steps_hash_is_valid(hash)) {
                (void) e2b_error(q, 400, "'%.80s' is no hash: %d hexadecimal digits", hash, STEPS_HASH);
                return;
        }
        there = e2b_upload_open(q, hash);
        sign_link(q, tenant, hash, expires, signature);
        (void) api_answer(q, 201, json_pack("{s:b, s:o}", "present", there >= 0,
                        "url", json_sprintf("%s://%s/templates/upload/%s?team=%s&expires=%llu&signature=%s", http_is_secure(q->http) ? "https" : "http",
                                        host ? host : "localhost", hash, tenant, (unsigned long long) expires, signature)));
}

/* PUT /templates/upload/{hash} */

typedef struct TemplatesFilesUpload {
        Spool *spool;
        uint64_t max;
} TemplatesFilesUpload;

static void templates_files_upload_destroy(ApiRequest *q, bool answered) {
        TemplatesFilesUpload *u = q->state;

        u->spool = spool_unref(u->spool);
}

/* -EPERM: the signature of the link is not ours. -ESTALE: the link has expired. */
static int check_link(ApiRequest *q) {
        const char *tenant = http_query(q->http, "team"), *given = http_query(q->http, "signature"), *until = http_query(q->http, "expires");
        char wanted[E2B_SIGNATURE_SIZE];
        uint64_t expires;

        if (!tenant || !given || !until || strlen(tenant) > ACCESS_NAME_MAX || !steps_hash_is_valid(q->parameters[0]) || parse_uint64(until, 0, INT64_MAX, &expires) < 0)
                return -EPERM;
        sign_link(q, tenant, q->parameters[0], expires, wanted);
        if (!e2b_token_matches(given, wanted))
                return -EPERM;
        return expires < (uint64_t) time(NULL) ? -ESTALE : 0;
}

int e2b_upload_identify(ApiRequest *q) {
        int r = check_link(q);

        if (r < 0)
                return e2b_error(q, 403, r == -ESTALE ? "the link has expired: request another" : "the link is not valid: request another");
        (void) snprintf(q->tenant, sizeof(q->tenant), "%s", http_query(q->http, "team"));
        q->has_proved = true;
        q->who = (Principal) { .kind = PRINCIPAL_UPLOAD, .tenant = q->tenant[0] ? q->tenant : NULL };
        (void) snprintf(q->actor, sizeof(q->actor), "upload");
        return 1;
}

void e2b_upload_begin(ApiRequest *q) {
        TemplatesFilesUpload *u = api_keep_state(q, sizeof(*u), templates_files_upload_destroy);
        Error error = { 0 };
        int r;

        if (!u)
                return;
        u->max = q->manager->settings->build.context_bytes_max;
        r = spool_new(q->manager, e2b_own_tenant(q), &u->spool, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
}

static void upload_end(ApiRequest *q, TemplatesFilesUpload *u) {
        _cleanup_spool_ Spool *spool = TAKE_PTR(u->spool);
        int r = e2b_uploads_keep(e2b_uploads_of(q->api), e2b_own_tenant(q), q->parameters[0], spool);

        if (r < 0)
                (void) e2b_errno(q, r, "cannot store the upload");
        else
                (void) e2b_empty(q, 200);
}

ssize_t e2b_upload_data(ApiRequest *q, const void *data, size_t size) {
        TemplatesFilesUpload *u = q->state;
        Error error = { 0 };
        int r;

        if (q->answered || !u || !u->spool)
                return -ECANCELED;
        if (size == 0) {
                upload_end(q, u);
                return 0;
        }
        r = spool_size(u->spool) + size > u->max ?
                        error_set(&error, -EFBIG, "the files have more than %llu bytes (build.maxContext of cove.yaml)", (unsigned long long) u->max) :
                        spool_write(u->spool, data, size, &error);
        if (r >= 0)
                return (ssize_t) size;
        u->spool = spool_unref(u->spool); /* at once: the client may keep the connection open */
        return e2b_errno(q, r, error.text);
}
