#include "sudo/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"

static int open_pair(Terminal *t) {
        char name[32];
        int number, unlock = 0;

        t->master_fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        if (t->master_fd < 0 || ioctl(t->master_fd, TIOCSPTLCK, &unlock) < 0 || ioctl(t->master_fd, TIOCGPTN, &number) < 0)
                return -errno;
        (void) snprintf(name, sizeof(name), "/dev/pts/%d", number);
        t->slave_fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        return t->slave_fd < 0 ? -errno : 0;
}

int terminal_open(Terminal *t) {
        struct termios settings;
        int r;

        *t = (Terminal) TERMINAL_EMPTY;
        if (!isatty(0) && !isatty(1) && !isatty(2))
                return 0;
        t->user_fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (t->user_fd < 0)
                return 0;
        r = open_pair(t);
        if (r < 0)
                return r;
        if (tcgetattr(t->user_fd, &t->before) < 0)
                return -errno;
        /* In a pipeline another program may change the terminal's settings: they stay as they are, and the
         * terminal translates newlines by itself. */
        t->wants_raw = isatty(0) && isatty(1);
        settings = t->before;
        if (!t->wants_raw)
                settings.c_oflag &= ~(tcflag_t) OPOST;
        (void) tcsetattr(t->slave_fd, TCSANOW, &settings);
        terminal_resize(t);
        return 1;
}

int terminal_replace(const Terminal *t, int fd) {
        return t->slave_fd >= 0 && isatty(fd) ? t->slave_fd : fd;
}

void terminal_resize(const Terminal *t) {
        struct winsize size;

        if (t->user_fd >= 0 && ioctl(t->user_fd, TIOCGWINSZ, &size) == 0)
                (void) ioctl(t->master_fd, TIOCSWINSZ, &size);
}

bool terminal_is_ours(const Terminal *t) {
        return t->user_fd >= 0 && tcgetpgrp(t->user_fd) == getpgrp();
}

void terminal_enter(Terminal *t) {
        struct termios raw = t->before;

        if (t->raw || !t->wants_raw || !terminal_is_ours(t))
                return;
        cfmakeraw(&raw);
        t->raw = tcsetattr(t->user_fd, TCSADRAIN, &raw) == 0;
}

void terminal_leave(Terminal *t) {
        if (t->raw && terminal_is_ours(t))
                (void) tcsetattr(t->user_fd, TCSADRAIN, &t->before);
        t->raw = false;
}
