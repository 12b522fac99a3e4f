/* native-zygote.c: zygotes are the spawner's. */

#include <errno.h>

#include "provider/native-internal.h"

int native_zygote(Provider *p, const SpawnZygote *request, const int fds[static _EXECUTION_CHANNEL_MAX], uint64_t token) {
        return native_request_token((Native *) p, SPAWN_ZYGOTE, &(SpawnMessage) { .zygote = *request }, token, fds, _EXECUTION_CHANNEL_MAX);
}

void native_on_zygote_answer(Native *n, NativeRequest *q, const SpawnMessage *m, int *fds, size_t n_fds) {
        Error error = { 0 };

        if (m->type == SPAWN_FORKED) {
                n->provider.events->zygote(q->token, m->forked.pid, NULL, n->provider.userdata);
                return;
        }
        if (m->type == SPAWN_FAILED)
                (void) error_set(&error, -m->failure.error, "%s", m->failure.text);
        else
                (void) error_set(&error, -EPROTO, "the spawner answered something else");
        n->provider.events->zygote(q->token, 0, &error, n->provider.userdata);
}
