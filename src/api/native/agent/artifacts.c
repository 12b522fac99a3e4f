/* artifacts.c: what was kept after an end: list, download, delete. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/native/native.h"
#include "api/native/values.h"
#include "api/page.h"
#include "artifact/artifact.h"
#include "base/fd.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX     10000

static Artifacts *native_artifacts_room(ApiRequest *q) {
        if (!q->api->rooms.artifacts)
                (void) api_error(q, 501, "unsupported", NULL, "this daemon keeps no artifacts");
        return q->api->rooms.artifacts;
}

json_t *native_artifact_json(const Artifact *a) {
        return json_pack("{s:s,s:s,s:s,s:o,s:o,s:s,s:I,s:s,s:b,s:o,s:s,s:i,s:o,s:o}",
                        "id", a->id,
                        "ownerKind", a->owner_kind,
                        "ownerId", a->owner_id,
                        "tenant", json_text_or_null(a->tenant[0] ? a->tenant : NULL),
                        "name", json_text_or_null(a->name),
                        "contentType", a->type,
                        "size", (json_int_t) a->size,
                        "sha256", a->sha256,
                        "truncated", a->truncated,
                        "createdAt", json_time(a->created_at),
                        "state", artifact_state_name(a->state),
                        "attempts", (int) a->attempts,
                        "error", json_text_or_null(a->error),
                        "location", json_text_or_null(a->place));
}

/* Of another tenant: it is not there. */
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

typedef struct NativeArtifactsPage {
        json_t *list;
        uint64_t last;
} NativeArtifactsPage;

static int native_artifacts_add_row(const Artifact *row, void *userdata) {
        NativeArtifactsPage *p = userdata;

        p->last = row->serial;
        return json_array_append_new(p->list, native_artifact_json(row)) < 0 ? -ENOMEM : 0;
}

void native_artifact_list(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        ArtifactQuery query = {
                .owner_id = http_query(q->http, "owner"),
                .owner_kind = http_query(q->http, "kind"),
                .tenant = q->who.tenant,
        };
        uint64_t limit = LIMIT_DEFAULT;
        NativeArtifactsPage page = { 0 };
        int r;

        if (!artifacts || api_query_uint(q, "limit", 1, LIMIT_MAX, &limit) < 0 || api_query_uint(q, "cursor", 0, INT64_MAX, &query.after) < 0)
                return;
        query.limit = (unsigned) limit;
        page.list = json_array();
        r = page.list ? artifacts_list(artifacts, &query, native_artifacts_add_row, &page) : -ENOMEM;
        if (r < 0) {
                json_decref(page.list);
                (void) native_core_error(q, r, NULL);
                return;
        }
        if (json_array_size(page.list) == limit)
                (void) api_page_next_number(q, page.last);
        (void) api_answer(q, 200, page.list);
}

void native_artifact_stats(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        ArtifactsStats s;

        if (!artifacts)
                return;
        artifacts_stats(artifacts, &s);
        (void) api_answer(q, 200, json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}",
                        "count", (json_int_t) s.count,
                        "bytes", (json_int_t) s.bytes,
                        "localBytes", (json_int_t) s.local_bytes,
                        "pending", (json_int_t) s.pending,
                        "failed", (json_int_t) s.failed,
                        "expired", (json_int_t) s.expired,
                        "evicted", (json_int_t) s.evicted,
                        "lost", (json_int_t) s.lost,
                        "lastError", json_text_or_null(s.last_error[0] ? s.last_error : NULL),
                        "lastErrorAt", json_time(s.last_error_at)));
}

void native_artifact_info(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        _cleanup_(artifact_done) Artifact a = { 0 };

        if (artifacts && native_artifacts_find(q, artifacts, &a) >= 0)
                (void) api_answer(q, 200, native_artifact_json(&a));
}

/* The bytes. */

static void native_artifacts_download_destroy(ApiRequest *q, bool answered) {
        artifacts_forget(q->api->rooms.artifacts, q);
        free(q->state);
        q->state = NULL;
}

/* What a sandbox wrote is nothing that a browser should run as ours. */
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

void native_artifact_get(ApiRequest *q) {
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
        artifact_done(a); /* its texts are not needed, the rest stays */
        q->state = a;
        q->destroy = native_artifacts_download_destroy;
        r = artifacts_open(artifacts, q->parameters[0], native_artifacts_on_opened, q, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
}

void native_artifact_delete(ApiRequest *q) {
        Artifacts *artifacts = native_artifacts_room(q);
        _cleanup_(artifact_done) Artifact a = { 0 };
        int r;

        if (!artifacts || native_artifacts_find(q, artifacts, &a) < 0)
                return;
        r = artifacts_delete(artifacts, a.id);
        if (r < 0)
                (void) native_core_error(q, r, NULL);
        else
                (void) api_answer(q, 200, json_pack("{s:s,s:b}", "id", a.id, "deleted", 1));
}
