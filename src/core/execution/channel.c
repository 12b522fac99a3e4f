/* channel.c: the other end of an execution that is spoken with.
 *
 * PID 1 keeps it, so that the daemon's death does not end the conversation; a copy comes when somebody wants to speak. */

#include <errno.h>
#include <stdio.h>

#include "base/fd.h"
#include "core/execution/command.h"
#include "core/internal.h"

_Static_assert(SANDBOX_KEPT_TEXT_MAX == GUEST_KEPT_TEXT_MAX && (int) _EXECUTION_CHANNEL_MAX == GUEST_KEPT_FDS, "what PID 1 can keep");

int execution_open_channel(Execution *x, ExecutionChannelOpened opened, void *userdata) {
        Provider *p = x->sandbox->manager->provider;
        int r;

        if (execution_ended(x))
                return -ESRCH;
        if (x->channel_opened)
                return -EBUSY;
        r = p->ops->send(p, x->sandbox, &(GuestMessage) { .type = GUEST_CHANNEL_OPEN, .exec_id = x->number }, NULL, 0);
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
        GuestMessage m = { .type = GUEST_KEEP };

        m.kept = (GuestKept) { .pid = pid };
        if ((size_t) snprintf(m.kept.text, sizeof(m.kept.text), "%s", text) >= sizeof(m.kept.text))
                return -E2BIG;
        return p->ops->send(p, sb, &m, fds, fds ? _EXECUTION_CHANNEL_MAX : 0);
}

int sandbox_ask_kept(Sandbox *sb, unsigned number) {
        Provider *p = sb->manager->provider;

        return p->ops->send(p, sb, &(GuestMessage) { .type = GUEST_KEPT_ASK, .exec_id = number }, NULL, 0);
}

int sandbox_kill_process(Sandbox *sb, int pid, int signal) {
        Provider *p = sb->manager->provider;
        GuestMessage m = { .type = GUEST_KILL };

        m.kill = (GuestKill) { .pid = pid, .signal = signal };
        return p->ops->send(p, sb, &m, NULL, 0);
}
