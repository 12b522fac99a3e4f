/* zygote.h: interpreters that are started once and forked into sandboxes.
 *
 * A zygote is a process of the spawner's making with an interpreter and chosen modules loaded (cove.yaml, zygotes: template, language, imports); nothing of any guest has
 * ever been read by it. To fork one into a sandbox: the spawner hands it the sandbox's namespaces; its child enters them, takes on every wall that a command of
 * that sandbox has, and only then reads from its channel. docs/SECURITY.md has the argument, src/zygote the code.
 * Must not know: what is said over the channel, HTTP. */
#pragma once

#include "core/execution.h"
#include "core/sandbox.h"

typedef struct ZygoteCall ZygoteCall;

/* r 0: fds are the other ends of its channel, stdout and stderr (ExecutionChannelEnd), the caller's; pid: inside. Once, not from within. */
typedef void (*ZygoteDone)(int r, int fds[static _EXECUTION_CHANNEL_MAX], int pid, const Error *error, void *userdata);

/* -EOPNOTSUPP: there is none for this sandbox's template and language, or it is not ready: begin one the ordinary way. cwd, env: as the child shall have them. */
int zygote_fork(Sandbox *sb, const char *language, uint32_t uid, uint32_t gid, const char *cwd, ZygoteDone done, void *userdata, ZygoteCall **ret, Error *reterr);
ZygoteCall *zygote_cancel(ZygoteCall *c);
/* Whether a sandbox of this template has to be made so that zygotes can enter it. */
bool zygote_serves(const Manager *m, const SandboxSpec *spec);
