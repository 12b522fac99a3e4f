/* artifacts.c: lists, downloads and deletes artifacts. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/native/routes/routes.h"
#include "api/native/values.h"
#include "artifact/artifact.h"
#include "base/fd.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX     10000

static Artifacts *native_artifacts_room(ApiRequest *q) {
        return native_room(q, q->api->rooms.artifacts, "this daemon keeps no artifacts");
}

/* An artifact of another tenant is not found. */
static int native_artifacts_find(ApiRequest *q, Artifacts *artifacts, Artifact *ret) {
        int r = artifacts_find(artifacts, q->parameters[0], ret);

        if (r >= 0 && q->who.tenant && strcmp(ret->tenant, q->who.tenant) != 0) {
                artifact_done(ret);
                r = -ENOENT;
        }
        if (r == -ENOENT)
                (void) api_error(q, 404, "not_found", NULL, "there is no artifact '%.80s'", q->parameters[0]);
        else if (r < 0)
                (void) native_core_error(q, r, NULL);
        return r;
}

static int native_artifacts_add_row(const Artifact *row, void *userdata) {
        return native_page_add(userdata, row, row->serial);
}

static void native_artifact_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_PAGE(q, LIMIT_DEFAULT, LIMIT_MAX, .cursor_max = INT64_MAX);
        Artifacts *artifacts = native_artifacts_room(q);
        ArtifactQuery query = {
                .owner_id = http_query(q->http, "owner"),
                .owner_kind = http_query(q->http, "kind"),
                .tenant = q->who.tenant,
        };
        int r;

        if (!artifacts || native_page_begin(&p) < 0)
                return;
        query.after = p.from;
        query.limit = (unsigned) p.limit;
        r = artifacts_list(artifacts, &query, native_artifacts_add_row, &p);
        p.more = json_array_size(p.list) == p.limit;
        native_page_answer(&p, r);
}

static void native_artifact_stats(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        ArtifactsStats s;

        if (!artifacts)
                return;
        artifacts_stats(artifacts, &s);
        (void) api_show(q, 200, &s);
}

static void native_artifact_info(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        _cleanup_(artifact_done) Artifact a = { 0 };

        if (artifacts && native_artifacts_find(q, artifacts, &a) >= 0)
                (void) api_show(q, 200, &a);
}

/* The bytes. */

static void native_artifacts_download_destroy(ApiRequest *q, bool answered) {
        artifacts_forget(q->api->rooms.artifacts, q);
        free(q->state);
        q->state = NULL;
}

/* The content is untrusted: a browser must not run it as ours. */
static int native_artifacts_add_headers(ApiRequest *q, const Artifact *a) {
        int r = http_add_header(q->http, "X-Content-Type-Options", "nosniff");

        if (r >= 0)
                r = http_add_header(q->http, "Content-Disposition", "attachment");
        if (r >= 0)
                r = http_add_header(q->http, "Content-Security-Policy", "sandbox");
        if (r >= 0)
                r = http_add_header(q->http, "X-Content-SHA256", a->sha256);
        return r;
}

static void native_artifacts_on_opened(int fd, const char *text, void *userdata) {
        ApiRequest *q = userdata;
        Artifact *a = q->state;
        struct stat st;

        if (fd == -ENODATA)
                (void) api_error(q, 410, "gone", NULL, "%s", text);
        else if (fd < 0)
                (void) api_error(q, 502, "bucket", NULL, "%s", text ? text : strerror(-fd));
        else if (fstat(fd, &st) < 0 || native_artifacts_add_headers(q, a) < 0) {
                (void) fd_close(fd);
                (void) api_errno(q, -ENOMEM, NULL);
        } else {
                q->answered = true;
                (void) http_answer_fd(q->http, 200, a->type, fd, 0, (uint64_t) st.st_size);
        }
}

static void native_artifact_get(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        Error error = { 0 };
        Artifact *a;
        int r;

        if (!artifacts)
                return;
        a = calloc(1, sizeof(*a));
        if (!a) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        if (native_artifacts_find(q, artifacts, a) < 0) {
                free(a);
                return;
        }
        artifact_done(a); /* only its texts are freed; the other fields stay valid */
        q->state = a;
        q->destroy = native_artifacts_download_destroy;
        r = artifacts_open(artifacts, q->parameters[0], native_artifacts_on_opened, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

static void native_artifact_delete(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        _cleanup_(artifact_done) Artifact a = { 0 };
        int r;

        if (!artifacts || native_artifacts_find(q, artifacts, &a) < 0)
                return;
        r = artifacts_delete(artifacts, a.id);
        if (r < 0)
                (void) native_core_error(q, r, NULL);
        else
                native_answer_deleted(q, a.id, r, NULL);
}

#define ARTIFACT "/api/artifacts/{id}"

const ApiRoute artifact_routes[] = {
        { "GET",    "/api/artifacts",       MAY_SEE,    .handle = native_artifact_list, .answer = &artifact_shape, .answers_a_list = true,
          .queries = QUERIES("owner", "kind", "cursor", "limit") },
        { "GET",    "/api/artifacts/stats", MAY_ADMIN,  .handle = native_artifact_stats, .answer = &artifacts_stats_shape },
        { "GET",    ARTIFACT,               MAY_READ,   .handle = native_artifact_get },
        { "GET",    ARTIFACT "/info",       MAY_SEE,    .handle = native_artifact_info, .answer = &artifact_shape },
        { "DELETE", ARTIFACT,               MAY_MANAGE, .handle = native_artifact_delete, ANSWER(deleted) },
        { 0 },
};
