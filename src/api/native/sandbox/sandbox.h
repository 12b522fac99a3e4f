/* sandbox.h: what the handlers of sandboxes share among themselves. */
#pragma once

#include "api/native/native.h"

/* create.c, create-made.c, list.c: their routes are sandbox.c's. */
void native_sandbox_create(ApiRequest *q);
void native_sandbox_list(ApiRequest *q);
extern const Shape native_sandbox_shape;

/* The done function of calls that are answered with the sandbox, userdata is the request. */
void call_answer_sandbox(Sandbox *sb, const Error *error, void *userdata);

json_t *native_guards_json(uint64_t guards); /* a GuardSet, by names */
const char *native_provider_name(const Manager *m);
