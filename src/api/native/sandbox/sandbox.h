/* sandbox.h: shared by the handlers of sandboxes. */
#pragma once

#include "api/native/native.h"

/* create.c, create-made.c, list.c: handlers; sandbox.c has the routes. */
void native_sandbox_create(ApiRequest *q);
void native_sandbox_list(ApiRequest *q);
extern const Shape native_sandbox_shape;

/* Callback for calls that are answered with the sandbox. userdata: the request. */
void call_answer_sandbox(Sandbox *sb, const Error *error, void *userdata);

json_t *native_guards_json(uint64_t guards); /* the names of a GuardSet */
const char *native_provider_name(const Manager *m);
