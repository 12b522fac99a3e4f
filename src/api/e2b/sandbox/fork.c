/* fork.c: POST /sandboxes/{id}/fork: makes copies of a sandbox, each with a copy of its disk. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"
#include "api/make.h"
#include "config/config.h"
#include "core/allowance.h"

#define FORKS_MAX 100

typedef struct E2bForkBody {
        int64_t timeout, count;
} E2bForkBody;

static const ShapeField fork_fields[] = {
        { "timeout", SHAPE_CUSTOM, offsetof(E2bForkBody, timeout), SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_seconds) },
        { "count",   SHAPE_CUSTOM, offsetof(E2bForkBody, count),   SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_seconds) },
};
static const Shape fork_shape = SHAPE_BODY(fork_fields);

static json_t *e2b_fork_error_json(const Error *error) {
        const char *message;
        unsigned status = api_errno_status(error->code, &message);

        return json_pack("{s:{s:i, s:s}}", "error", "code", (int) status, "message", error->text[0] ? error->text : message);
}

/* Answers with one result per copy, in order. */
static void e2b_fork_on_forked(Sandbox *const *list, const Error *errors, size_t n, void *userdata) {
        ApiRequest *q = userdata;
        ApiForking *k = q->state;
        json_t *all = json_array();

        k->fork = NULL;
        for (size_t i = 0; i < n; i++) {
                if (!list[i]) {
                        (void) json_array_append_new(all, e2b_fork_error_json(errors + i));
                        continue;
                }
                api_forks_made(k, list[i]);
                (void) json_array_append_new(all, json_pack("{s:o}", "sandbox", e2b_sandbox_json(list[i], q->api)));
        }
        (void) api_answer(q, 201, all);
}

static int e2b_fork_make_specs(const ApiRequest *q, const Sandbox *sb, usec_t timeout, SandboxSpec *specs, size_t n, Error *reterr) {
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                r = sandbox_fork_spec(sb, specs + i, reterr);
                if (r >= 0)
                        r = allowance_take_policy(q->manager, &q->who, specs + i);
                if (r >= 0)
                        specs[i].timeout_usec = timeout;
        }
        return r;
}

static void e2b_fork_begin(ApiRequest *q, Sandbox *sb, size_t count, usec_t timeout) {
        ApiForking *k = api_make_forks(q, count);
        Error error = { -ENOMEM, "out of memory" };
        Fork *f = NULL;
        int r;

        if (!k)
                return;
        r = e2b_fork_make_specs(q, sb, timeout, k->specs, count, &error);
        if (r >= 0)
                r = state_fork_each(q->api->rooms.state, &q->who, sb, k->specs, count, USEC_INFINITY, e2b_fork_on_forked, q, &f, &error);
        if (r < 0)
                e2b_create_failed(q, &error);
        k->fork = f;
}

void e2b_sandbox_fork(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        E2bForkBody b = { .count = 1, .timeout = (int64_t) (q->manager->settings->e2b.timeout_usec / USEC_PER_SEC) };
        usec_t timeout;

        if (!sb || e2b_read(q, &fork_shape, &b) < 0 || e2b_create_timeout(q, b.timeout, &timeout) < 0)
                return;
        if (b.count < 1)
                (void) e2b_error(q, 400, "Count must be at least 1");
        else if (b.count > FORKS_MAX)
                (void) e2b_error(q, 400, "Count must be at most %d", FORKS_MAX);
        else if (e2b_is_paused(sb))
                (void) e2b_error(q, 409, "Sandbox %s is paused: connect to it before it is forked", sb->id);
        else if (!q->api->rooms.state)
                (void) e2b_error(q, 400, "this daemon cannot fork");
        else
                e2b_fork_begin(q, sb, (size_t) b.count, timeout);
}
