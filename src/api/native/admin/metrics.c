/* metrics.c: health, metrics, history, cost, recommendations.
 *
 * Numbers of the whole daemon are for keys that belong to no tenant; a tenant's key sees its own cost. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/routes/routes.h"
#include "api/native/values.h"
#include "base/parse.h"
#include "config/config.h"
#include "observe/observe.h"
#include "vault/vault.h"

#define DAY       (24 * 3600 * USEC_PER_SEC)
#define ITEMS     100
#define ITEMS_MAX 1000
#define STEP_MAX  (366 * DAY)
#define PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* NULL: answered. */
static struct Observe *native_metrics_room(ApiRequest *q) {
        return native_room(q, q->api->rooms.observe, "this daemon keeps no metrics");
}

static bool native_metrics_opened(const Manager *m) {
        return m->settings->metrics.open;
}

static void native_prometheus(ApiRequest *q) {
        struct Observe *o = native_metrics_room(q);
        size_t size;
        char *text;

        if (!o)
                return;
        text = observe_prometheus(o, &size);
        if (!text) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        q->answered = true;
        (void) http_answer_take(q->http, 200, PROMETHEUS_TYPE, text, size);
}

/* Reports that secrets do not work while the rest does. */
static void add_vault(ApiRequest *q, json_t *health) {
        Error why = { 0 };

        if (!q->api->rooms.vault || vault_is_open(q->api->rooms.vault, &why))
                return;
        (void) json_array_append_new(json_object_get(health, "reasons"), json_pack("{s:s,s:f,s:f,s:o}", "signal", "vault_shut", "value", 1.0,
                        "limit", 0.0, "text", json_text_or_null(why.text)));
        if (strcmp(json_string_value(json_object_get(health, "status")), "healthy") == 0)
                (void) json_object_set_new(health, "status", json_string("degraded"));
}

static void native_health(ApiRequest *q) {
        struct Observe *o = native_metrics_room(q);

        json_t *health = o ? observe_health_json(o) : NULL;

        if (health)
                add_vault(q, health);
        if (o)
                (void) api_answer(q, 200, health);
}

static int read_window(ApiRequest *q, WindowSpan *ret) {
        const char *name = http_query(q->http, "window");

        *ret = WINDOW_1H;
        if (!name)
                return 0;
        *ret = window_from_name(name);
        return (int) *ret < 0 ? native_complain(q, "window", "'%.60s' is none of 1m, 5m, 1h, 24h", name) : 0;
}

static char *native_metrics_lower(const char *text) {
        char *copy = strdup(text);

        for (char *p = copy; p && *p; p++)
                if (*p >= 'A' && *p <= 'Z')
                        *p = (char) (*p - 'A' + 'a');
        return copy;
}

static void native_metrics(ApiRequest *q) {
        const char *agent = http_query(q->http, "agentType");
        _cleanup_free_ char *name = agent ? native_metrics_lower(agent) : NULL;
        struct Observe *o = native_metrics_room(q);
        WindowSpan span;
        json_t *body;

        if (!o || read_window(q, &span) < 0)
                return;
        if (agent && !name) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        body = observe_metrics_json(o, span, name);
        if (!body && agent)
                (void) api_error(q, 404, "not_found", NULL, "no sandbox of agent type '%.60s' was ever counted", agent);
        else
                (void) api_answer(q, 200, body);
}

/* The default is the last day. */
static int native_metrics_read_range(ApiRequest *q, usec_t *ret_from, usec_t *ret_to) {
        usec_t from = 0, to = 0;
        int r = native_query_time(q, "to", &to);

        if (r >= 0)
                r = native_query_time(q, "from", &from);
        *ret_to = to != 0 ? to : clock_wall_usec() + 1;
        *ret_from = from != 0 ? from : *ret_to > DAY ? *ret_to - DAY : 0;
        if (r >= 0 && *ret_from >= *ret_to)
                r = native_complain(q, "from", "must be before to");
        return r;
}

static int native_metrics_read_step(ApiRequest *q, usec_t *ret) {
        const char *text = http_query(q->http, "step");

        *ret = 0;
        if (text && (parse_duration(text, ret) < 0 || *ret == 0 || *ret > STEP_MAX))
                return native_complain(q, "step", "'%.60s' must be a time, as in 5m or 1h", text);
        return 0;
}

static void native_metrics_history(ApiRequest *q) {
        struct Observe *o = native_metrics_room(q);
        usec_t from, to, step;
        Error error = { 0 };
        json_t *body = NULL;
        int r;

        if (!o || native_metrics_read_range(q, &from, &to) < 0 || native_metrics_read_step(q, &step) < 0)
                return;
        r = observe_history_json(o, from, to, step, &body, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, body);
}

static void native_cost(ApiRequest *q) {
        const char *by = http_query(q->http, "by"), *tenant = q->who.tenant && *q->who.tenant ? q->who.tenant : NULL;
        struct Observe *o = native_metrics_room(q);
        uint64_t limit = ITEMS;
        Error error = { 0 };
        json_t *body = NULL;
        usec_t from, to;
        int r;

        if (!o || native_metrics_read_range(q, &from, &to) < 0 || api_query_uint(q, "limit", 1, ITEMS_MAX, &limit) < 0)
                return;
        r = observe_cost_json(o, by ? by : "agentType", from, to, tenant, limit, &body, &error);
        if (r == -EINVAL)
                (void) native_complain(q, "by", "%s", error.text);
        else if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, body);
}

static void native_recommendations(ApiRequest *q) {
        struct Observe *o = native_metrics_room(q);

        if (o)
                (void) api_answer(q, 200, observe_recommendations_json(o));
}

const ApiRoute metrics_routes[] = {
        { "GET", "/metrics",                      MAY_OVERSEE, .opened = native_metrics_opened, .while_recovering = true, .handle = native_prometheus },
        { "GET", "/api/sandbox/health",           MAY_OVERSEE, .handle = native_health },
        { "GET", "/api/sandbox/metrics",          MAY_OVERSEE, .handle = native_metrics, .queries = QUERIES("window", "agentType") },
        { "GET", "/api/sandbox/metrics/history",  MAY_OVERSEE, .handle = native_metrics_history, .queries = QUERIES("from", "to", "step") },
        { "GET", "/api/cost",                     MAY_SEE,     .handle = native_cost, .queries = QUERIES("by", "from", "to", "limit") },
        { "GET", "/api/profiles/recommendations", MAY_OVERSEE, .handle = native_recommendations },
        { 0 },
};
