#include "api/cors.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/origin.h"
#include "config/config.h"

#define METHODS "GET, HEAD, POST, PUT, PATCH, DELETE"

static const char *cors_asked(const ApiRequest *q, const char *name) {
        const char *value = http_header(q->http, name);

        return value && *value ? value : NULL;
}

/* An OPTIONS request that the browser sends by itself before the actual one. It carries neither key nor
 * token. */
static bool cors_is_preflight(const ApiRequest *q) {
        return strcmp(http_method(q->http), "OPTIONS") == 0 && cors_asked(q, "Origin") && cors_asked(q, "Access-Control-Request-Method");
}

/* The value of Access-Control-Allow-Origin; NULL: none. */
static const char *cors_allowed(const CorsConfig *c, const char *origin) {
        if (c->loopback && origin_is_loopback(origin))
                return origin;
        for (size_t i = 0; i < c->origins.n; i++)
                if (origin_matches(c->origins.items[i], origin))
                        return strcmp(c->origins.items[i], "*") == 0 ? "*" : origin;
        return NULL;
}

static int cors_preflight(ApiRequest *q, const CorsConfig *c) {
        const char *headers = cors_asked(q, "Access-Control-Request-Headers");
        int r = http_add_header(q->http, "Access-Control-Allow-Methods", METHODS);

        if (r >= 0 && headers)
                r = http_add_header(q->http, "Access-Control-Allow-Headers", headers);
        if (r >= 0 && cors_asked(q, "Access-Control-Request-Private-Network"))
                r = http_add_header(q->http, "Access-Control-Allow-Private-Network", "true");
        if (r >= 0)
                r = http_format_header(q->http, "Access-Control-Max-Age", "%" PRIu64, c->max_age_usec / USEC_PER_SEC);
        q->answered = q->accounted = true; /* not recorded, like a health check; the request after it is */
        (void) http_answer(q->http, r < 0 ? 500 : 204, /* type= */ NULL, "", 0);
        return -ECANCELED;
}

static int cors_refuse(ApiRequest *q) {
        (void) api_error(q, 403, "origin_not_allowed", "add the origin to cors.origins in cove.yaml", "pages of this origin may not use the API");
        return -EACCES;
}

int cors_admit(ApiRequest *q) {
        const CorsConfig *c = &q->manager->settings->cors;
        const char *origin = cors_asked(q, "Origin"), *allowed = origin ? cors_allowed(c, origin) : NULL;
        bool preflight = cors_is_preflight(q);
        int r = http_add_header(q->http, "Vary",
                        preflight ? "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network" : "Origin");

        if (r >= 0 && allowed)
                r = http_add_header(q->http, "Access-Control-Allow-Origin", allowed);
        if (r >= 0 && allowed && !preflight)
                r = http_add_header(q->http, "Access-Control-Expose-Headers", "*");
        if (r < 0)
                return api_errno(q, r, NULL);
        if (!preflight)
                return 0;
        return allowed ? cors_preflight(q, c) : cors_refuse(q);
}
