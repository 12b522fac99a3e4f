/* zygote.h: interpreters that are started once and forked into sandboxes.
 *
 * A zygote is a process that the spawner starts, with an interpreter and chosen modules loaded (cove.yaml, zygotes:
 * template, language, imports). It never reads any data of a guest. To fork it into a sandbox, the spawner passes
 * it the sandbox's namespaces; its child enters them, applies every restriction that a command of that sandbox has,
 * and only then reads from its channel. docs/SECURITY.md has the reasoning, src/zygote the code.
 * Must not know: what is said over the channel, HTTP. */
#pragma once

#include "core/execution.h"
#include "core/sandbox.h"

typedef struct ZygoteCall ZygoteCall;

/* r 0: fds are the daemon's ends of its channel, stdout and stderr (ExecutionChannelEnd), and the callee's; pid: as
 * seen inside. Called once, not from within zygote_fork(). */
typedef void (*ZygoteDone)(int r, int fds[static _EXECUTION_CHANNEL_MAX], int pid, const Error *error, void *userdata);

/* -EOPNOTSUPP: there is no zygote for this sandbox and language, or it is not ready: start an interpreter as an
 * execution. cwd: the child's working directory; NULL: the sandbox's. */
int zygote_fork(Sandbox *sb, const char *language, uint32_t uid, uint32_t gid, const char *cwd, ZygoteDone done, void *userdata, ZygoteCall **ret, Error *reterr);
ZygoteCall *zygote_cancel(ZygoteCall *c);
/* Whether a sandbox of this spec must be made so that zygotes can enter it. */
bool zygote_serves(const Manager *m, const SandboxSpec *spec);
