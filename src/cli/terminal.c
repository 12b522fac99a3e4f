#include "cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <termios.h>

static struct termios saved;
static int saved_fd = -EBADF;

int terminal_raw(int fd) {
        static bool registered = false;
        struct termios raw;

        if (tcgetattr(fd, &saved) < 0)
                return errno == ENOTTY ? 0 : -errno;
        if (!registered) {
                registered = true;
                (void) atexit(terminal_restore);
        }
        raw = saved;
        cfmakeraw(&raw);
        if (tcsetattr(fd, TCSADRAIN, &raw) < 0)
                return -errno;
        saved_fd = fd;
        return 0;
}

void terminal_restore(void) {
        if (saved_fd >= 0)
                (void) tcsetattr(saved_fd, TCSADRAIN, &saved);
        saved_fd = -EBADF;
}

int terminal_signals(const int *numbers, size_t n) {
        sigset_t set;

        (void) sigemptyset(&set);
        for (size_t i = 0; i < n; i++)
                (void) sigaddset(&set, numbers[i]);
        return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -1 : signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

struct winsize terminal_size(void) {
        struct winsize size;

        for (int fd = 0; fd < 3; fd++)
                if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
                        return size;
        return (struct winsize) { .ws_col = 80, .ws_row = 24 };
}
