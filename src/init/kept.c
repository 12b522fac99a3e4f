#include "init/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "init/pool.h"

static void close_all(KeptChannel *one) {
        for (size_t i = 0; i < GUEST_KEPT_FDS; i++)
                one->fds[i] = fd_close(one->fds[i]);
}

static void kept_drop(Kept *k, size_t i) {
        close_all(k->list + i);
        k->n--;
        memmove(k->list + i, k->list + i + 1, (k->n - i) * sizeof(k->list[0]));
}

static void drop_dead(Kept *k) {
        for (size_t i = k->n; i > 0; i--)
                if (kill(k->list[i - 1].pid, 0) < 0 && errno == ESRCH)
                        kept_drop(k, i - 1);
}

void kept_forget(Kept *k, int32_t pid) {
        for (size_t i = k->n; i > 0; i--)
                if (k->list[i - 1].pid == pid)
                        kept_drop(k, i - 1);
}

int kept_put(Kept *k, const GuestKept *what, const int fds[static GUEST_KEPT_FDS]) {
        KeptChannel one = { .pid = what->pid, .fds = { -EBADF, -EBADF, -EBADF } };

        kept_forget(k, what->pid);
        if (k->n == GUEST_KEPT_MAX)
                drop_dead(k);
        if (k->n == GUEST_KEPT_MAX)
                return -ENOSPC;
        for (size_t i = 0; i < GUEST_KEPT_FDS; i++) {
                one.fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, PRIVATE_FD_FIRST);
                if (one.fds[i] < 0) {
                        int r = -errno;

                        close_all(&one);
                        return r;
                }
        }
        (void) snprintf(one.text, sizeof(one.text), "%s", what->text);
        k->list[k->n++] = one;
        return 0;
}

const KeptChannel *kept_at(Kept *k, size_t number) {
        if (number == 0)
                drop_dead(k);
        return number < k->n ? k->list + number : NULL;
}
