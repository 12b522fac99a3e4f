/* sandbox.h: what the handlers of sandboxes share among themselves. */
#pragma once

#include "api/native/native.h"

/* A request that waits for a sandbox to have become something. The sandbox may go first, so it is known by its id. */
int call_keep(ApiRequest *q, const Sandbox *sb); /* answers and returns < 0 when it cannot */
/* At the beginning of the done function: the call is over. */
void call_over(ApiRequest *q);

Sandbox *sandbox_by_id(Manager *m, const char *id); /* whoever it belongs to; NULL: gone */

/* The done function of calls that are answered with the sandbox, userdata is the request. */
void call_answer_sandbox(Sandbox *sb, const Error *error, void *userdata);

json_t *native_limits_json(const SandboxLimits *l);

/* create.c: of a SandboxLimits */
extern const Shape native_limit_shape;
