/* files-auth.c: access to /files: with the sandbox's token, or with a signature over path, operation, user
 * and token, which can be given to others without revealing the token. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/e2b/envd/envd.h"

static int files_auth_refuse(ApiRequest *q, const char *message) {
        return e2b_error(q, 401, "%s", message);
}

static int read_expiration(ApiRequest *q, const char *text, long long *ret) {
        char *end;

        errno = 0;
        *ret = strtoll(text, &end, 10);
        if (errno == 0 && end != text && *end == '\0')
                return 0;
        return e2b_error(q, 400, "signature_expiration: '%.40s' is no number of seconds", text);
}

static int check_signature(ApiRequest *q, const char *operation, const char *token, const char *given) {
        const char *path = http_query(q->http, "path"), *user = http_query(q->http, "username");
        const char *expires = http_query(q->http, "signature_expiration");
        _cleanup_free_ char *wanted = NULL;
        long long until = 0;
        int r;

        if (expires && read_expiration(q, expires, &until) < 0)
                return -EINVAL;
        r = e2b_file_signature(path ? path : "", operation, user ? user : "", token, expires, &wanted);
        if (r < 0)
                return e2b_errno(q, r, NULL);
        if (!e2b_token_matches(given, wanted))
                return files_auth_refuse(q, "invalid signature");
        if (expires && until < (long long) time(NULL))
                return files_auth_refuse(q, "signature is already expired");
        q->has_proved = true;
        return 0;
}

int e2b_files_identify(ApiRequest *q, const Sandbox *sb) {
        const char *given = http_header(q->http, "X-Access-Token"), *signature = http_query(q->http, "signature");
        bool reads = q->route->needs == MAY_READ;
        char token[E2B_TOKEN_MAX];
        int r;

        q->gave_secret = (given && *given) || signature;
        if (given && *given)
                return files_auth_refuse(q, "access token present in header but does not match");
        if (!signature)
                return files_auth_refuse(q, "missing signature query parameter");
        e2b_access_token(q->api, sb->id, token);
        r = check_signature(q, reads ? "read" : "write", token, signature);
        if (r < 0)
                return r;
        api_become(q, reads ? PRINCIPAL_DOWNLOAD : PRINCIPAL_UPLOAD, sb->spec.tenant, sb->id);
        (void) snprintf(q->actor, sizeof(q->actor), "signature:%s", sb->id);
        return 0;
}

void envd_files_refuse_user(ApiRequest *q, int r, const char *name) {
        if (r == -ENOENT)
                (void) e2b_error(q, 401, "error looking up user '%s': user: unknown user %s", name ? name : "", name ? name : "");
        else if (r == -EPIPE || r == -ESTALE)
                (void) e2b_proxy_missing(q, q->sandbox_id);
        else
                (void) e2b_errno(q, r, NULL);
}

void envd_files_lookup(ApiRequest *q, const char *name, EnvdLookupDone done, void *userdata, EnvdLookup **at) {
        EnvdLookup *lookup = NULL;
        Error error = { 0 };
        int r = envd_user_lookup(q->sandbox, name, done, userdata, &lookup, &error);

        if (r < 0)
                envd_files_refuse_user(q, r, NULL);
        else if (lookup)
                *at = lookup;
}
