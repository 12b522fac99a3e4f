/* alerts.c: alerts: the current ones, rules and channels; acknowledgement; channel tests. */

#include <errno.h>
#include <stdlib.h>

#include "api/native/routes/routes.h"
#include "observe/alert.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000
#define TEXT_MAX     1000

/* Alerts concern all tenants. So this right is required, whatever right the route itself needs. */
static Alerts *alerts_of(ApiRequest *q) {
        if (!principal_may(&q->who, MAY_OVERSEE)) {
                (void) api_error(q, 403, "forbidden", "use a key that belongs to no tenant", "alerts are about all tenants");
                return NULL;
        }
        return native_room(q, q->api->rooms.alerts, "this daemon has no alerts");
}

static void alert_list(ApiRequest *q) {
        Alerts *a = alerts_of(q);
        uint64_t limit = LIST_DEFAULT;
        Error error = { 0 };
        json_t *list;
        int r;

        if (!a || api_query_uint(q, "limit", 1, LIST_MAX, &limit) < 0)
                return;
        r = alerts_list_json(a, http_query(q->http, "status"), http_query(q->http, "severity"), (size_t) limit, &list, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, list);
}

static void alert_get(ApiRequest *q) {
        Alerts *a = alerts_of(q);
        json_t *j;

        if (!a)
                return;
        j = alerts_get_json(a, q->parameters[0]);
        if (j)
                (void) api_answer(q, 200, j);
        else
                (void) api_error(q, 404, "not_found", NULL, "there is no alert '%s'", q->parameters[0]);
}

static void alert_rule_list(ApiRequest *q) {
        Alerts *a = alerts_of(q);

        if (a)
                (void) api_answer(q, 200, alerts_rules_json(a));
}

static void alert_channel_list(ApiRequest *q) {
        Alerts *a = alerts_of(q);

        if (a)
                (void) api_answer(q, 200, notify_channels_json(alerts_notify(a)));
}

/* Taking care. */

typedef struct AcknowledgeBody {
        char *by, *note;
} AcknowledgeBody;

static const Shape native_acknowledge_shape = SHAPE_FIELDS(
        { "by",   SHAPE_TEXT, offsetof(AcknowledgeBody, by),   SHAPE_NULLABLE, .min = 1, .max = TEXT_MAX },
        { "note", SHAPE_TEXT, offsetof(AcknowledgeBody, note), SHAPE_NULLABLE, .max = TEXT_MAX           });

static void alert_acknowledge(ApiRequest *q) {
        Alerts *a = alerts_of(q);
        AcknowledgeBody b = { 0 };
        Error error = { 0 };
        json_t *j;
        int r;

        if (!a)
                return;
        if (api_read(q, &b) >= 0) {
                r = alerts_acknowledge(a, q->parameters[0], b.by ? b.by : q->who.key_id, b.note, &j, &error);
                if (r == -ESTALE)
                        (void) api_error(q, 409, "conflict", NULL, "%s", error.text);
                else if (r < 0)
                        (void) api_errno(q, r, error.text);
                else
                        (void) api_answer(q, 200, j);
        }
        shape_done(&native_acknowledge_shape, &b);
}

/* Test of a channel: the answer is sent after the channel has responded. */

typedef struct TestBody {
        char *channel;
} TestBody;

static const ShapeField test_fields[] = {
        { "channel", SHAPE_TEXT, offsetof(TestBody, channel), SHAPE_MANDATORY, .min = 1, .max = CONFIG_NAME_MAX },
};
static const Shape native_alert_test_shape = SHAPE_BODY(test_fields);

typedef struct TestState {
        NotifyTest *test;
        char *channel;
} TestState;

static void test_destroy(ApiRequest *q, bool answered) {
        TestState *s = q->state;

        notify_test_forget(s->test);
        free(s->channel);
        free(s);
}

typedef struct TestOutcome {
        const char *channel;
        bool delivered;
        const char *error;
} TestOutcome;

static const Shape native_alert_test_answer = SHAPE_FIELDS(
        { "channel",   SHAPE_BORROWED, offsetof(TestOutcome, channel), SHAPE_ALWAYS },
        { "delivered", SHAPE_BOOL,     offsetof(TestOutcome, delivered)             },
        { "error",     SHAPE_BORROWED, offsetof(TestOutcome, error)                 });

static void test_answer(ApiRequest *q, const char *channel, int r, const char *text) {
        (void) api_show(q, 200, &(TestOutcome) { channel, r >= 0, r < 0 ? text : NULL });
}

static void alerts_on_tested(int r, const char *text, void *userdata) {
        ApiRequest *q = userdata;
        TestState *s = q->state;

        s->test = NULL;
        test_answer(q, s->channel, r, text);
}

static void test_begin(ApiRequest *q, Alerts *a, TestState *s) {
        Error error = { 0 };
        int r = notify_test(alerts_notify(a), s->channel, alerts_on_tested, q, &s->test, &error);

        if (r > 0)
                test_answer(q, s->channel, 0, NULL);
        else if (r == -ENOENT)
                (void) api_error(q, 404, "not_found", "`cove alerts channels` lists them", "%s", error.text);
        else if (r < 0)
                test_answer(q, s->channel, r, error.text);
}

static void alert_test(ApiRequest *q) {
        Alerts *a = alerts_of(q);
        TestBody b = { 0 };
        TestState *s;

        if (!a)
                return;
        if (api_read(q, &b) < 0) {
                free(b.channel);
                return;
        }
        s = calloc(1, sizeof(*s));
        if (!s) {
                free(b.channel);
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        s->channel = b.channel;
        q->state = s;
        q->destroy = test_destroy;
        test_begin(q, a, s);
}

const ApiRoute alert_routes[] = {
        { "GET",  "/api/alerts",                       MAY_OVERSEE, .handle = alert_list, .queries = QUERIES("status", "severity", "limit") },
        { "GET",  "/api/alerts/rules",                 MAY_OVERSEE, .handle = alert_rule_list },
        { "GET",  "/api/alerts/channels",              MAY_OVERSEE, .handle = alert_channel_list },
        { "POST", "/api/alerts/test",                  MAY_ADMIN,   .handle = alert_test, JSON_BODY(alert_test), ANSWER(alert_test) },
        { "GET",  "/api/alerts/{alert}",               MAY_OVERSEE, .handle = alert_get },
        { "POST", "/api/alerts/{alert}/acknowledge",   MAY_MANAGE,  .handle = alert_acknowledge, JSON_BODY(acknowledge) },
        { 0 },
};
