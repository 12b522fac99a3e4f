#include "init/sudo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "init/pool.h"
#include "wire/guard.h"
#include "wire/sudo.h"

#define LISTEN_BACKLOG 64
#define AGAIN_USEC     (50 * USEC_PER_MSEC) /* a guest that kills its door, or has no room for one, must not keep us busy with it */

static int sudo_open_socket(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        socklen_t size = offsetof(struct sockaddr_un, sun_path) + sizeof(SUDO_ADDRESS);

        if (fd < 0)
                return -errno;
        memcpy(address.sun_path + 1, SUDO_ADDRESS, sizeof(SUDO_ADDRESS) - 1);
        if (bind(fd, (struct sockaddr *) &address, size) < 0 || listen(fd, LISTEN_BACKLOG) < 0)
                return -errno;
        return private_fd_consume(TAKE_FD(fd));
}

/* Without a network namespace of its own, processes outside the sandbox could use the address: sudo is then
 * disabled. */
int sudo_init(Sudo *s, const ShimSetting *setting) {
        *s = (Sudo) { .setting = setting, .listen_fd = -EBADF };
        if (!setting->serve->sudo || setting->serve->guards_missing & GUARD_BIT(GUARD_NETNS))
                return 0;
        s->listen_fd = sudo_open_socket();
        return MIN_OF(s->listen_fd, 0);
}

int sudo_poll(const Sudo *s) {
        return s->door != 0 || (s->again != 0 && clock_usec() < s->again) ? -EBADF : s->listen_fd;
}

usec_t sudo_next(const Sudo *s) {
        return s->door == 0 && s->again != 0 && clock_usec() < s->again ? s->again : USEC_INFINITY;
}

void sudo_open_door(Sudo *s) {
        pid_t pid;

        s->again = 0;
        pid = fork();
        if (pid == 0)
                sudo_door_main(s->setting, s->listen_fd);
        if (pid < 0)
                s->again = clock_usec() + AGAIN_USEC;
        else
                s->door = pid;
}

bool sudo_reaped(Sudo *s, pid_t pid, int status) {
        if (s->listen_fd < 0)
                return false;
        if (pid == s->door) {
                s->door = 0;
                if (status != 0)
                        s->again = clock_usec() + AGAIN_USEC;
                return false;
        }
        for (size_t i = 0; i < BOARD_SUDO; i++) {
                SudoSlot *slot = s->setting->board->sudo + i;
                bool done;

                if (atomic_load(&slot->pid) != pid)
                        continue;
                done = atomic_load(&slot->state) == SUDO_SLOT_DONE;
                atomic_store(&slot->pid, 0);
                atomic_store(&slot->state, SUDO_SLOT_FREE);
                return !done;
        }
        return false;
}

/* A pid is not reused that soon after its process ends: the kernel goes round all pids first. SIGKILL is sent
 * to the steward, and not passed on by it: a steward may be blocked by its client (by a descriptor that blocks
 * the process that closes it), and only this signal reaches it then. The command then is PID 1's child, and PID
 * 1 ends it (sudo_reaped). */
static void signal_slot(SudoSlot *slot, int signal_number) {
        pid_t pid = atomic_load(&slot->pid);

        if (pid <= 0 || atomic_load(&slot->state) != SUDO_SLOT_TAKEN)
                return;
        if (signal_number == SIGKILL) {
                (void) kill(pid, SIGKILL);
                return;
        }
        (void) atomic_fetch_or(&slot->signals, UINT64_C(1) << (signal_number - 1));
        (void) kill(pid, SIGUSR1);
}

void sudo_signal(Board *board, int32_t record, uint64_t exec, int signal_number) {
        for (size_t i = 0; i < BOARD_SUDO; i++) {
                SudoSlot *slot = board->sudo + i;

                if (atomic_load(&slot->pid) > 0 && atomic_load(&slot->record) == record && atomic_load(&slot->exec) == exec)
                        signal_slot(slot, signal_number);
        }
}

void sudo_signal_all(Board *board, int signal_number) {
        for (size_t i = 0; i < BOARD_SUDO; i++)
                signal_slot(board->sudo + i, signal_number);
}
