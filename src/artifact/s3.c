/* s3.c: one request to a bucket, signed by libcurl (AWS signature, version 4), in path style: ENDPOINT/BUCKET/KEY. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/internal.h"
#include "base/fd.h"

#define OF_NOTHING       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define TIMEOUT          (60 * USEC_PER_SEC)
#define REMOVAL_ATTEMPTS 8
#define REMOVALS_MAX     10000

/* Encodes all but unreserved characters and slashes, as the signature requires. */
static void encode(FILE *f, const char *text) {
        static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

        for (const unsigned char *p = (const unsigned char *) text; *p; p++)
                if (strchr(plain, *p))
                        (void) fputc(*p, f);
                else
                        (void) fprintf(f, "%%%02X", *p);
}

/* The id makes the key unique; the rest is for people who browse the bucket. */
char *s3_place(const Artifacts *a, const Artifact *artifact) {
        const ArtifactsConfig *c = artifacts_config(a);
        const char *prefix = c->prefix ? c->prefix : "";
        char *text;

        if (asprintf(&text, "%s/%s%s%s/%s/%s/%s", c->bucket ? c->bucket : "", prefix, *prefix && prefix[strlen(prefix) - 1] != '/' ? "/" : "",
                            artifact->owner_kind, artifact->owner_id, artifact->id, artifact->name) < 0)
                return NULL;
        return text;
}

static char *s3_make_url(const ArtifactsConfig *c, const char *place) {
        size_t size, n = strlen(c->endpoint);
        char *text = NULL;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        (void) fprintf(f, "%.*s/", (int) (n > 0 && c->endpoint[n - 1] == '/' ? n - 1 : n), c->endpoint);
        encode(f, place);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

static int s3_check_config(const ArtifactsConfig *c, Error *reterr) {
        if (!c->endpoint || !c->bucket || !c->access_key || !c->secret_key)
                return error_set(reterr, -EINVAL, "artifacts: a bucket takes endpoint, bucket, accessKey and secretKey");
        return 0;
}

typedef struct Parts {
        char *url;
        char sigv4[128], sha256[128], type[160];
        const char *headers[3];
} Parts;

static int make_parts(const ArtifactsConfig *c, const char *place, const char *sha256, const char *type, Parts *p, Error *reterr) {
        size_t n = 0;

        p->url = s3_make_url(c, place);
        if (!p->url)
                return error_set(reterr, -ENOMEM, "out of memory");
        (void) snprintf(p->sigv4, sizeof(p->sigv4), "aws:amz:%s:s3", c->region ? c->region : "us-east-1");
        (void) snprintf(p->sha256, sizeof(p->sha256), "x-amz-content-sha256: %s", sha256 ? sha256 : OF_NOTHING);
        p->headers[n++] = p->sha256; /* S3 always requires it, and older versions of libcurl leave it out if there is no body */
        if (type) {
                (void) snprintf(p->type, sizeof(p->type), "Content-Type: %s", type);
                p->headers[n++] = p->type;
        }
        return 0;
}

static OutboundSpec s3_make_spec(const ArtifactsConfig *c, const Parts *p, const char *method) {
        return (OutboundSpec) {
                .method = method,
                .url = p->url,
                .headers = p->headers,
                .body_fd = -EBADF,
                .reach = IP_REACH_ALL,
                .timeout_usec = TIMEOUT,
                .sigv4 = p->sigv4,
                .access_key = c->access_key,
                .secret_key = c->secret_key,
        };
}

int s3_request(Artifacts *a, const char *method, const char *place, const char *sha256, const char *type, int body_fd, size_t answer_max,
                OutboundDone done, void *userdata, OutboundRequest **ret, Error *reterr) {
        const ArtifactsConfig *c = artifacts_config(a);
        OutboundSpec spec;
        Parts p = { 0 };
        int r = a->outbound ? s3_check_config(c, reterr) : error_set(reterr, -EOPNOTSUPP, "artifacts: there is no way to a bucket");

        if (r >= 0)
                r = make_parts(c, place, sha256, type, &p, reterr);
        if (r < 0) {
                (void) fd_close(body_fd);
                return r;
        }
        spec = s3_make_spec(c, &p, method);
        spec.body_fd = body_fd;
        spec.answer_max = answer_max;
        r = outbound_send(a->outbound, &spec, done, userdata, ret, reterr);
        free(p.url);
        return r;
}

/* Tried again for a while; an object that is left after that stays in the bucket. */
int s3_remove(Artifacts *a, const char *place) {
        const DeliveryLimits limits = {
                .attempts_max = REMOVAL_ATTEMPTS,
                .backoff_usec = USEC_PER_SEC,
                .backoff_max_usec = 300 * USEC_PER_SEC,
                .queue_max = REMOVALS_MAX,
        };
        const ArtifactsConfig *c = artifacts_config(a);
        OutboundSpec spec;
        Parts p = { 0 };
        int r;

        if (!a->removals || s3_check_config(c, NULL) < 0)
                return -EOPNOTSUPP;
        r = make_parts(c, place, NULL, NULL, &p, NULL);
        if (r < 0)
                return r;
        spec = s3_make_spec(c, &p, "DELETE");
        r = delivery_add(a->removals, "bucket", &spec, &limits, NULL, NULL, NULL);
        free(p.url);
        return r;
}
