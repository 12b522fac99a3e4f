/* channel.c: the daemon's ends of an execution's channel.
 *
 * The provider keeps them, so that the death of the daemon does not end the conversation; the daemon gets copies on
 * request. */

#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "core/execution/command.h"
#include "core/internal.h"

int execution_open_channel(Execution *x, ExecutionChannelOpened opened, void *userdata) {
        Provider *p = x->sandbox->manager->provider;
        int r;

        if (execution_ended(x))
                return -ESRCH;
        if (x->channel_opened)
                return -EBUSY;
        r = provider_require(p, PROVIDER_CHANNELS, NULL);
        if (r >= 0)
                r = p->channels->open(p, x->sandbox, x->number);
        if (r < 0)
                return r;
        x->channel_opened = opened;
        x->channel_userdata = userdata;
        return 0;
}

void execution_forget_channel(Execution *x) {
        x->channel_opened = NULL;
}

void execution_on_channel(Execution *x, int error, int fds[static _EXECUTION_CHANNEL_MAX]) {
        ExecutionChannelOpened opened = x ? x->channel_opened : NULL;

        if (!opened) {
                for (ExecutionChannelEnd i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                        (void) fd_close(fds[i]);
                return;
        }
        x->channel_opened = NULL;
        opened(x, error, fds, x->channel_userdata);
}

int sandbox_environment(Sandbox *sb, uint32_t uid, Strv *ret, Error *reterr) {
        const Execution asked = { .sandbox = sb, .spec = { .uid = uid, .has_user = true } };

        return command_environment(&asked, ret, reterr);
}

void sandbox_count_work(Sandbox *sb, int change) {
        execution_count(sb, change);
        sandbox_update_running(sb);
}

int sandbox_keep_channel(Sandbox *sb, int pid, const int *fds, const char *text) {
        Provider *p = sb->manager->provider;
        int r = provider_require(p, PROVIDER_CHANNELS, NULL);

        if (strlen(text) >= SANDBOX_KEPT_TEXT_MAX)
                return -E2BIG;
        return r < 0 ? r : p->channels->keep(p, sb, pid, fds, text);
}

int sandbox_ask_kept(Sandbox *sb, unsigned number) {
        Provider *p = sb->manager->provider;
        int r = provider_require(p, PROVIDER_CHANNELS, NULL);

        return r < 0 ? r : p->channels->ask_kept(p, sb, number);
}

int sandbox_kill_process(Sandbox *sb, int pid, int signal) {
        Provider *p = sb->manager->provider;
        int r = provider_require(p, PROVIDER_CHANNELS, NULL);

        return r < 0 ? r : p->channels->kill(p, sb, pid, signal);
}
