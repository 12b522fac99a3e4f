/* sandbox.h: what the handlers of sandboxes share among themselves. */
#pragma once

#include "api/native/native.h"

/* The done function of calls that are answered with the sandbox, userdata is the request. */
void call_answer_sandbox(Sandbox *sb, const Error *error, void *userdata);

json_t *native_limits_json(const SandboxLimits *l);

/* create.c: of a SandboxLimits */
