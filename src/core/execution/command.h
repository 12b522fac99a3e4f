/* command.h: passes an execution to the provider, with its complete environment, its directory and its journals.
 * Private to the core. */
#pragma once

#include "core/execution.h"

/* Contains the values of secrets: secrets_strv_done() frees it. */
int command_environment(const Execution *x, Strv *ret, Error *reterr);
const char *command_workdir(const Sandbox *sb, const char *asked); /* asked NULL: the sandbox's */
int command_send(Execution *x, const Strv *env, const int journals[static _STREAM_MAX], Error *reterr);
