/* volume-call.c: access control for the files of a volume, and the helper sandbox for operations on them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/e2b/volume/volumes.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/shape.h"
#include "core/acquire.h"

#define IDLE_USEC   (60 * USEC_PER_SEC)
#define WAIT_USEC   (30 * USEC_PER_SEC)
#define MEMORY      (UINT64_C(128) << 20)
#define PIDS        64

/* Errors. */

int e2b_volume_refuse(ApiRequest *q, unsigned status, const char *message) {
        static const struct {
                unsigned status;
                const char *word;
        } words[] = {
                { 400, "bad_request" }, { 401, "unauthorized" }, { 403, "forbidden" }, { 404, "not_found" }, { 409, "conflict" }, { 413, "too_large" },
                { 429, "too_many_requests" }, { 501, "not_supported" }, { 503, "unavailable" }, { 507, "no_space" },
        };
        const char *word = "internal";

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (words[i].status == status)
                        word = words[i].word;
        return api_answer(q, status, json_pack("{s:s, s:o}", "code", word, "message", json_text_or_null(message ? message : "")));
}

void e2b_volume_fail(ApiRequest *q, int r, const char *path) {
        _cleanup_free_ char *text = NULL;
        const char *words;
        unsigned status;

        if (r == -ENOTDIR)
                r = -ENOENT; /* a part of the path is no directory, so the path does not exist */
        status = api_errno_status(r, &words);
        if (r == -EDQUOT)
                status = 507;
        if (asprintf(&text, "%s: %s", path, r == -EDQUOT ? "the volume is full" : strerror(-r)) < 0)
                text = NULL;
        (void) e2b_volume_refuse(q, status, text ? text : words);
}

/* The call. */

static void volume_call_destroy(ApiRequest *q, bool answered) {
        VolumeCall *k = q->state;

        if (k->acquisition)
                acquisition_cancel(k->acquisition);
        fileop_free(k->op);
        (void) fd_close(k->fd);
        json_decref(k->list);
        free(k->path);
}

static const char *bearer(ApiRequest *q) {
        static const char scheme[] = "Bearer ";
        const char *h = http_header(q->http, "Authorization");

        return h && strncasecmp(h, scheme, strlen(scheme)) == 0 ? h + strlen(scheme) : NULL;
}

/* The token is derived from the volume's id. So a caller without it does not learn whether the volume
 * exists. */
int e2b_volume_identify(ApiRequest *q) {
        char wanted[E2B_VOLUME_TOKEN_SIZE];

        e2b_volume_token(q->api, q->parameters[0], wanted);
        if (!e2b_token_matches(bearer(q), wanted)) {
                q->gave_secret = bearer(q) != NULL;
                (void) e2b_volume_refuse(q, 401, "the token of the volume is missing or wrong");
                return -EACCES;
        }
        q->has_proved = true;
        q->who = (Principal) { .kind = PRINCIPAL_VOLUME };
        (void) snprintf(q->actor, sizeof(q->actor), "volume:%.20s", q->parameters[0]);
        return 1;
}

static const Volume *volume_call_find(ApiRequest *q) {
        const Volume *v = q->api->rooms.state ? volume_find(q->api->rooms.state, &principal_daemon, q->parameters[0]) : NULL;

        if (v && strcmp(v->tree.id, q->parameters[0]) == 0)
                return v;
        (void) e2b_volume_refuse(q, 404, "there is no such volume");
        return NULL;
}

static int volume_call_set_path(VolumeCall *k, const char *given) {
        _cleanup_free_ char *absolute = NULL;
        int r;

        if (asprintf(&absolute, "/%s", given) < 0) {
                absolute = NULL;
                return -ENOMEM;
        }
        r = path_normalize(absolute, &k->path);
        if (r < 0)
                return r;
        if ((size_t) snprintf(k->request.path, sizeof(k->request.path), E2B_VOLUME_PLACE "%s", strcmp(k->path, "/") == 0 ? "" : k->path) >= sizeof(k->request.path))
                return -ENAMETOOLONG;
        return 0;
}

VolumeCall *e2b_volume_call(ApiRequest *q, FileOperation operation) {
        const Volume *v = volume_call_find(q);
        const char *path = http_query(q->http, "path");
        VolumeCall *k;
        int r;

        if (!v)
                return NULL;
        if (!path || !*path) {
                (void) e2b_volume_refuse(q, 400, "?path= is needed");
                return NULL;
        }
        k = api_keep_state(q, sizeof(*k), volume_call_destroy);
        if (!k)
                return NULL;
        *k = (VolumeCall) { .q = q, .fd = -EBADF,
                .request = { .operation = (uint16_t) operation, .mode = FILE_MODE_NONE, .owner = FILE_ID_NONE, .group = FILE_ID_NONE } };
        r = volume_call_set_path(k, path);
        if (r < 0) {
                (void) e2b_volume_refuse(q, 400, "the path must have no '..', and no more than 4095 bytes");
                return NULL;
        }
        return k;
}

/* The sandbox. */

static int volume_call_make_spec(const Volume *v, SandboxSpec *ret) {
        char name[64], metadata[80];
        int r;

        e2b_volume_helper_name(v, name);
        (void) snprintf(metadata, sizeof(metadata), "{\"volumeFiles\":\"%s\"}", v->tree.id);
        sandbox_spec_defaults(ret);
        r = shape_text_set(&ret->template_name, "host");
        if (r >= 0)
                r = shape_text_set(&ret->tenant, v->tree.tenant);
        if (r >= 0)
                r = shape_text_set(&ret->name, name);
        if (r >= 0)
                r = shape_text_set(&ret->metadata, metadata);
        if (r >= 0)
                r = shape_text_set(&ret->workdir, "/");
        if (r >= 0)
                r = sandbox_spec_add_volume(ret, v->tree.name, v->tree.id, E2B_VOLUME_PLACE, /* writable= */ true);
        ret->uid = ret->gid = 0;
        ret->timeout_usec = IDLE_USEC;
        ret->on_timeout = ON_TIMEOUT_KILL;
        ret->limits.memory_bytes = MEMORY;
        ret->limits.pids = PIDS;
        return r;
}

static void volume_call_on_sandbox(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        VolumeCall *k = userdata;
        Error why = { 0 };
        const char *words;
        int r;

        k->acquisition = NULL;
        if (error) {
                (void) e2b_volume_refuse(k->q, api_errno_status(error->code, &words), error->text);
                return;
        }
        (void) sandbox_set_timeout(sb, IDLE_USEC, NULL);
        r = fileop_start(sb, &k->request, k->handlers, k, &k->op, &why);
        if (r < 0) { /* most likely the sandbox is just ending */
                (void) http_add_header(k->q->http, "Retry-After", "1");
                (void) e2b_volume_refuse(k->q, 503, why.text);
                return;
        }
        k->started = true;
        if (k->ended)
                (void) e2b_volume_put(k, NULL, 0);
        http_request_continue(k->q->http); /* what came meanwhile */
}

void e2b_volume_begin(VolumeCall *k, const FileOpHandlers *handlers) {
        const Volume *v = volume_find(k->q->api->rooms.state, &principal_daemon, k->q->parameters[0]);
        /* The daemon itself sets the limits of this sandbox. */
        const Principal who = { .kind = PRINCIPAL_ADMIN, .tenant = v && *v->tree.tenant ? v->tree.tenant : NULL };
        Acquisition *a = NULL;
        SandboxSpec spec = { 0 };
        Error error = { 0 };
        const char *words;
        int r = v ? volume_call_make_spec(v, &spec) : -ENOENT;

        k->handlers = handlers;
        if (r >= 0)
                r = manager_acquire(k->q->manager, &who, &spec, WAIT_USEC, volume_call_on_sandbox, k, &a, &error);
        else
                sandbox_spec_done(&spec);
        if (r < 0) {
                unsigned status = api_errno_status(r, &words);

                (void) e2b_volume_refuse(k->q, status, error.text[0] ? error.text : words);
        } else if (a)
                k->acquisition = a;
}
