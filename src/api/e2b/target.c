/* target.c: finds the sandbox and port of a request, and checks access.
 *
 * The address is, in this order: a host name with both; headers with both, under any other name (E2B's proxy
 * uses the headers if the name cannot have the address; here the daemon may have a name of its own); a token,
 * which has the sandbox's id. A request without any of these is for the control plane.
 *
 * Names below previews.domain are also those of native previews, which are private. So the rules depend on
 * the sandbox: one that this surface has made follows E2B's rules (ports are public unless
 * network.allowPublicTraffic was false), all others follow the native ones. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/cors.h"
#include "api/e2b/host.h"
#include "api/router.h"
#include "config/config.h"

#define ID_HEADER      "E2b-Sandbox-Id"
#define PORT_HEADER    "E2b-Sandbox-Port"
#define TOKEN_HEADER   "X-Access-Token"
#define TRAFFIC_HEADER "e2b-traffic-access-token"

static const char unauthorized[] = "unauthorized access, please provide a valid access token or method signing if supported";

/* A pooled sandbox belongs to nobody yet, and is not found. */
static Sandbox *target_find(const ApiRequest *q, const char *id) {
        Sandbox *sb = manager_by_id(q->manager, id);

        return sb && !sb->pooled ? sb : NULL;
}

static int refuse_text(ApiRequest *q, const char *text) {
        char line[64];
        int n = snprintf(line, sizeof(line), "%s\n", text);

        q->answered = true;
        (void) http_answer(q->http, 400, "text/plain; charset=utf-8", line, (size_t) n);
        return -EINVAL;
}

static int refuse_address(ApiRequest *q, int r) {
        return refuse_text(q, r == -ENXIO ? "Invalid host" : r == -ERANGE ? "Invalid sandbox port" : "Invalid sandbox ID");
}

static int by_headers(ApiRequest *q, ApiTarget *ret) {
        const char *id = http_header(q->http, ID_HEADER), *port = http_header(q->http, PORT_HEADER);
        bool has_id = id && *id, has_port = port && *port;

        if (!has_id && !has_port)
                return 0;
        if (!has_id || !has_port)
                return refuse_text(q, "missing header");
        if (router_port(port, strlen(port), &ret->port) < 0)
                return refuse_address(q, -ERANGE);
        if (!e2b_id_is_possible(id, strlen(id)))
                return refuse_address(q, -EINVAL);
        (void) snprintf(ret->id, sizeof(ret->id), "%s", id);
        return 1;
}

/* Old clients send the id only with some requests, but their token with all. */
static bool by_token(const ApiRequest *q, ApiTarget *ret) {
        char id[SANDBOX_ID_LENGTH + 1];

        if (!e2b_token_is_of(http_header(q->http, TOKEN_HEADER), id))
                return false;
        (void) snprintf(ret->id, sizeof(ret->id), "%s", id);
        ret->port = E2B_ENVD_PORT;
        return true;
}

/* A signature is a hash that does not name its sandbox, so a host name is needed. To try the token of every
 * sandbox would let strangers cause as many hashes as there are sandboxes. */
static int refuse_signature(ApiRequest *q) {
        if (!http_query(q->http, "signature") || strcmp(http_path(q->http), "/files") != 0)
                return 0;
        if (cors_admit(q) < 0) /* a preflight does not have the headers; the request after it has them */
                return -ECANCELED;
        return e2b_error(q, 401, "a signed URL has to name its sandbox: use the host name %d-ID.DOMAIN (E2B_DOMAIN in place of E2B_SANDBOX_URL), or send the headers "
                        ID_HEADER " and " PORT_HEADER, E2B_ENVD_PORT);
}

static bool target_is_ours(uint16_t port) {
        return port == E2B_ENVD_PORT || port == E2B_INTERPRETER_PORT;
}

bool e2b_target_passes_on(const ApiTarget *t) {
        return !target_is_ours(t->port);
}

/* Whether this is a native preview: a sandbox that this surface has not made, at a name below the domain of
 * previews. If the sandbox is gone, its maker is unknown, and the name alone decides. */
static bool is_preview(const ApiRequest *q, const char *host, const ApiTarget *t) {
        const Config *settings = q->manager->settings;
        const Sandbox *sb = target_find(q, t->id);

        if (target_is_ours(t->port) || !e2b_host_is_below(host, settings->previews.domain))
                return false;
        return sb ? !sb->spec.dialect : !settings->e2b.domain[0] || !e2b_host_is_below(host, settings->e2b.domain);
}

static int by_host(ApiRequest *q, ApiTarget *ret) {
        const char *host = http_header(q->http, "Host");
        int r = host ? e2b_host_read(host, ret) : 0;

        if (r == 0)
                return 0;
        if (r < 0)
                return e2b_host_is_below(host, q->manager->settings->previews.domain) ? 0 : refuse_address(q, r);
        return !is_preview(q, host, ret);
}

static bool is_named_otherwise(const ApiRequest *q) {
        const char *host = http_header(q->http, "Host");
        ApiTarget t;

        return host && e2b_host_read(host, &t) != 0;
}

int e2b_target_find(ApiRequest *q, ApiTarget *ret) {
        ApiTarget t = { 0 };
        int r;

        if (!e2b_enabled(q->manager))
                return 0;
        r = by_host(q, &t);
        if (r == 0 && is_named_otherwise(q))
                return 0;
        if (r == 0)
                r = by_headers(q, &t);
        if (r == 0)
                r = by_token(q, &t) ? 1 : refuse_signature(q);
        if (r > 0)
                *ret = t;
        return r;
}

/* Who may. */

/* Paths by which E2B's own control plane controls envd. No client may use them. */
static bool target_is_reserved(const char *path) {
        static const char *const reserved[] = { "/init", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw", "/upgrade" };

        for (size_t i = 0; i < ELEMENTSOF(reserved); i++)
                if (strcmp(path, reserved[i]) == 0)
                        return true;
        return false;
}

static int refuse_reserved(ApiRequest *q) {
        (void) e2b_proxy_answer(q, 404,
                        json_pack("{s:s, s:s, s:i}", "message",
                                        "This endpoint is reserved for the E2B control plane and is not reachable through the sandbox URL", "path",
                                        http_path(q->http), "code", 404));
        return -ENOENT;
}

static bool has_traffic_token(const ApiRequest *q, const Sandbox *sb) {
        char wanted[E2B_TOKEN_MAX];

        e2b_traffic_token(q->api, sb->id, wanted);
        return e2b_token_matches(http_header(q->http, TRAFFIC_HEADER), wanted);
}

static int check_traffic(ApiRequest *q, const Sandbox *sb) {
        const char *given = http_header(q->http, TRAFFIC_HEADER);

        if (has_traffic_token(q, sb))
                return 0;
        q->gave_secret = given && *given;
        (void) e2b_proxy_refuse(q, 403, sb->id, /* port= */ 0,
                        given && *given ? "Sandbox is secured with traffic access token. Provided token in header '" TRAFFIC_HEADER "' is invalid"
                                        : "Sandbox is secured with traffic access token. Token header '" TRAFFIC_HEADER "' is missing");
        return -EACCES;
}

static bool has_token(const ApiRequest *q, const Sandbox *sb) {
        char wanted[E2B_TOKEN_MAX];

        e2b_access_token(q->api, sb->id, wanted);
        return e2b_token_matches(http_header(q->http, TOKEN_HEADER), wanted);
}

/* The rights of the caller. With the access token, or if none is required, they cover everything in this
 * sandbox. Otherwise they cover its ports, which are public unless the traffic token is required. envd is no
 * such port. The interpreter is one for callers with the traffic token, because the SDK sends the access
 * token only with code, but the traffic token with everything. */
static PrincipalKind target_kind(const ApiRequest *q, const Sandbox *sb, const ApiTarget *t, const E2bRecord *record) {
        if (!record->secure || has_token(q, sb))
                return PRINCIPAL_SANDBOX;
        if (t->port == E2B_ENVD_PORT || (t->port == E2B_INTERPRETER_PORT && !has_traffic_token(q, sb)))
                return PRINCIPAL_NOBODY;
        return PRINCIPAL_VISITOR;
}

static int refuse_token(ApiRequest *q) {
        q->gave_secret = http_header(q->http, TOKEN_HEADER) || http_header(q->http, TRAFFIC_HEADER);
        return e2b_error(q, 401, "%s", unauthorized);
}

/* A stranger may only use a signature, which is for a file. */
static int check_needs(ApiRequest *q, const Sandbox *sb) {
        if (principal_may(&q->who, q->route->needs))
                return 0;
        return q->who.kind == PRINCIPAL_NOBODY && strcmp(q->route->path, E2B_FILES) == 0 ? e2b_files_identify(q, sb) : refuse_token(q);
}

/* A caller that may do nothing else with the sandbox may not wake it. */
static int check_waking(ApiRequest *q, const Sandbox *sb) {
        if (q->who.kind == PRINCIPAL_SANDBOX || q->who.kind == PRINCIPAL_VISITOR)
                return 0;
        (void) e2b_proxy_refuse(q, 403, sb->id, /* port= */ 0,
                        "This sandbox can't be resumed with the credentials provided. Check your access token and try again.");
        return -EACCES;
}

/* An unknown path needs a token like the others, so that strangers do not learn which paths exist. */
static int find_route(ApiRequest *q, const ApiRoute *const *tables) {
        RouterMatch m;
        int r = router_find(tables, http_method(q->http), http_path(q->http), &m);

        if (r < 0 && q->who.kind == PRINCIPAL_NOBODY)
                return refuse_token(q);
        if (r < 0) {
                if (m.allow[0])
                        (void) http_add_header(q->http, "Allow", m.allow);
                (void) e2b_error(q, r == -EPERM ? 405 : 404, "there is no %s %s", http_method(q->http), http_path(q->http));
                return r;
        }
        q->route = m.route;
        memcpy(q->parameters, m.parameters, sizeof(q->parameters));
        return 0;
}

/* A sandbox of another surface has no options that open it, so both tokens are required. */
static int target_record(const Sandbox *sb, E2bRecord *ret) {
        const E2bRecord *record = e2b_record(sb);

        if (!record)
                return -ENOMEM;
        *ret = *record;
        if (!sb->spec.dialect)
                ret->secure = ret->private_traffic = true;
        return 0;
}

int e2b_target_admit(ApiRequest *q, const ApiTarget *t) {
        E2bRecord record = { 0 }; /* its pointers belong to the sandbox */
        Sandbox *sb = target_find(q, t->id);
        int r;

        if (t->port == E2B_ENVD_PORT && target_is_reserved(http_path(q->http)))
                return refuse_reserved(q);
        if (q->manager->recovering) {
                (void) http_add_header(q->http, "Retry-After", "1");
                return e2b_error(q, 503, "the daemon has just started and looks for its sandboxes: try again in a second");
        }
        r = sb ? target_record(sb, &record) : 0;
        if (r < 0)
                return e2b_errno(q, r, NULL);
        if (!sb || !(e2b_is_awake(sb) || e2b_may_wake(sb, &record))) {
                (void) e2b_proxy_missing(q, t->id);
                return -ENOENT;
        }
        if (record.private_traffic && t->port != E2B_ENVD_PORT && check_traffic(q, sb) < 0)
                return -EACCES;
        q->has_proved = has_token(q, sb) || (t->port != E2B_ENVD_PORT && has_traffic_token(q, sb));
        api_become(q, target_kind(q, sb, t, &record), sb->spec.tenant, sb->id);
        (void) snprintf(q->actor, sizeof(q->actor), "token:%s", sb->id);
        api_about(q, sb, /* x= */ NULL);
        q->prepare = e2b_wake;
        if (!target_is_ours(t->port))
                return e2b_proxy_admit(q, t, &record);
        r = find_route(q, t->port == E2B_ENVD_PORT ? e2b_envd_tables : e2b_interpreter_tables);
        if (r >= 0)
                r = check_needs(q, sb);
        return r < 0 || e2b_is_awake(sb) ? r : check_waking(q, sb);
}
